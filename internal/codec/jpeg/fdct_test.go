package jpeg

import (
	"math/rand/v2"
	"testing"
)

// TestDivisors: multiplying with a reciprocal gives the quotients of the
// division, rounded half up, of all numbers by all divisors.
func TestDivisors(t *testing.T) {
	for q := 1; q <= 255; q += 1 {
		var quant [64]uint16
		for i := range quant {
			quant[i] = uint16(q)
		}
		var d divisors
		d.set(&quant)
		add, reciprocal, scale := uint32(d[0][7][15]), uint32(d[1][7][15]), uint32(d[2][7][15])
		for v := range uint32(1 << 15) {
			got := (v + add) * reciprocal >> 16 * scale >> 16
			if want := (v + uint32(4*q)) / uint32(8*q); got != want {
				t.Fatalf("%d by %d: %d, want %d", v, 8*q, got, want)
			}
		}
	}
}

// randomSamples makes noise, edges and extremes.
func randomSamples(r *rand.Rand, pix []byte) {
	kind := r.IntN(4)
	for i := range pix {
		switch kind {
		case 0:
			pix[i] = byte(r.Uint32())
		case 1:
			pix[i] = byte(int32(r.Uint32()) >> 31)
		case 2:
			pix[i] = byte(i*i/50 + r.IntN(20))
		case 3:
			pix[i] = 255
		}
	}
}
