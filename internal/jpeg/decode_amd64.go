//go:build !noasm

package jpeg

// assembled says whether the assembly that makes the decoder of this package the fastest runs
// here.
func assembled() bool { return hasAVX2 }
