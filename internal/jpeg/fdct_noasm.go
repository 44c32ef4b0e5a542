//go:build !amd64 || noasm

package jpeg

// fdct transforms n blocks of samples that lie side by side, divides the
// coefficients and puts them, in zigzag order, into coefs. nonzero gets a bit
// for each that is not 0, the lowest for the first. Of an odd number of blocks
// it reads one more, but doesn't use it.
func fdct(coefs []block, nonzero []uint64, at place, src []byte, stride int, d *divisors, n int) {
	fdctPlain(coefs, nonzero, at, src, stride, d, n)
}
