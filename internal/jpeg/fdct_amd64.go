//go:build !noasm

package jpeg

// fdct transforms n blocks of samples that lie side by side, divides the
// coefficients and puts them, in zigzag order, into coefs. nonzero gets a bit
// for each that is not 0, the lowest for the first. Of an odd number of blocks
// it reads one more, but doesn't use it.
func fdct(coefs []block, nonzero []uint64, at place, src []byte, stride int, d *divisors, n int) {
	if !hasAVX2 {
		fdctPlain(coefs, nonzero, at, src, stride, d, n)
		return
	}
	last := max(at.of(n-1), at.of((n-1)&^1))
	_, _, _ = coefs[last], nonzero[last], src[7*stride+(n+1)/2*16-1]
	fdctAVX2(&coefs[0], &nonzero[0], at.between, at.step, &src[0], stride, &d[0][0][0], n)
}
