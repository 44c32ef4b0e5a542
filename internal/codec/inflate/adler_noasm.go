//go:build !amd64 || noasm

package inflate

// adler continues an Adler-32, which begins with 1.
func adler(sum uint32, data []byte) uint32 { return adlerPlain(sum, data) }
