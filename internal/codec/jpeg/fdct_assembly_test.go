//go:build (amd64 || arm64) && !noasm

package jpeg

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The assembly and its reference implementation make the same coefficients of the same samples.
func TestFDCTReference(t *testing.T) {
	if !hasVectors {
		t.Skip("the assembly does not run on this processor")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		var quant [64]uint16
		top := 1 + r.IntN(255)
		for j := range quant {
			quant[j] = uint16(1 + r.IntN(top))
		}
		var d divisors
		d.set(&quant)
		n := 1 + i%5
		stride := n*8 + 8 + r.IntN(9)
		src := make([]byte, 8*stride)
		randomSamples(r, src)
		at := []blockLayout{{1, 2}, {1, 6}, {6, 12}, {3, 6}}[r.IntN(4)]
		fast, plain := make([]block, 6*n+6), make([]block, 6*n+6)
		fastMask, plainMask := make([]uint64, 6*n+6), make([]uint64, 6*n+6)
		fdct(fast, fastMask, at, src, stride, &d, n)
		fdctPlain(plain, plainMask, at, src, stride, &d, n)
		if !slices.Equal(fast, plain) || !slices.Equal(fastMask, plainMask) {
			t.Fatalf("%d blocks at %v: other coefficients:\n%v\n%v", n, at, fast, plain)
		}
	}
}

// BenchmarkFDCT transforms 64 blocks a turn, which includes dividing and the
// zigzag.
func BenchmarkFDCT(b *testing.B) {
	if !hasVectors {
		b.Skip("the assembly does not run on this processor")
	}
	src := make([]byte, 64*64)
	randomSamples(rand.New(rand.NewPCG(1, 2)), src)
	var quant [64]uint16
	for i := range quant {
		quant[i] = uint16(3 + i/8)
	}
	var d divisors
	d.set(&quant)
	coefs, nonzero := make([]block, 64), make([]uint64, 64)
	for name, f := range map[string]func([]block, []uint64, blockLayout, []byte, int, *divisors, int){"assembly": fdct, "plain": fdctPlain} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				f(coefs, nonzero, blockLayout{1, 2}, src, 512, &d, 64)
			}
		})
	}
}
