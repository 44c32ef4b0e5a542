//go:build (!amd64 && !arm64) || noasm

package jpeg

// fdct transforms n neighbouring blocks of samples, divides the coefficients and writes them to
// coefs in zigzag order. nonzero gets a bit for each that is not 0, the lowest for the first. For
// an odd n it reads one more block, but does not use it.
func fdct(coefs []block, nonzero []uint64, at blockLayout, src []byte, stride int, d *divisors, n int) {
	fdctPlain(coefs, nonzero, at, src, stride, d, n)
}
