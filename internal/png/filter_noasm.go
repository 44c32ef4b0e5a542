//go:build !amd64 || noasm

package png

// unfilter is unfilterPlain.
func unfilter(filter byte, dst, src, above []byte, n int) { unfilterPlain(filter, dst, src, above, n) }
