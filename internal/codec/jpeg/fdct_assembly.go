//go:build (amd64 || arm64) && !noasm

package jpeg

// fdct transforms n neighbouring blocks of samples, divides the coefficients and writes them to
// coefs in zigzag order. nonzero gets a bit for each that is not 0, the lowest for the first. For
// an odd n it reads one more block, but does not use it.
func fdct(coefs []block, nonzero []uint64, at blockLayout, src []byte, stride int, d *divisors, n int) {
	if !hasVectors {
		fdctPlain(coefs, nonzero, at, src, stride, d, n)
		return
	}
	last := max(at.of(n-1), at.of((n-1)&^1))
	_, _, _ = coefs[last], nonzero[last], src[7*stride+(n+1)/2*16-1]
	fdctAsm(&coefs[0], &nonzero[0], at.between, at.step, &src[0], stride, &d[0][0][0], n)
}
