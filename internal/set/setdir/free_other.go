//go:build !linux && !darwin

package setdir

// Free returns the number of bytes available in the directory; false if unknown.
func Free(d *Dir) (int64, bool) { return 0, false }
