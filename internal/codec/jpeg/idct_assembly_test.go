//go:build (amd64 || arm64) && !noasm

package jpeg

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// idcts are the transforms with their reference implementations.
var idctReferences = []struct {
	name        string
	size        int
	fast, plain func(dst []byte, stride int, coefs [][64]int16, quant *[64]uint16)
}{
	{"8x8", 8, idct8, idct8Plain}, {"4x4", 4, idct4, idct4Plain}, {"2x2", 2, idct2, idct2Plain},
}

// mustMatch compares the assembly with its reference implementation on n blocks, and checks that it
// writes nothing around them.
func mustMatch(t *testing.T, coefs [][64]int16, quant *[64]uint16) {
	t.Helper()
	for _, f := range idctReferences {
		stride := f.size*len(coefs) + 5
		fast, plain := make([]byte, stride*f.size), make([]byte, stride*f.size)
		f.fast(fast, stride, coefs, quant)
		f.plain(plain, stride, coefs, quant)
		if !bytes.Equal(fast, plain) {
			t.Fatalf("%s, %d blocks: other samples:\n%v\n%v\nof %v\nby %v", f.name, len(coefs), fast, plain, coefs, quant)
		}
	}
}

// The assembly and its reference implementation make the same samples of all coefficients and
// tables, including those that no image has.
func TestIDCTReference(t *testing.T) {
	if !hasVectors {
		t.Skip("the assembly does not run on this processor")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		var quant [64]uint16
		for j := range quant {
			quant[j] = uint16(r.Uint32()>>r.IntN(16)) | 1
		}
		mustMatch(t, randomBlocks(r, 1+i%7, 1+r.UintN(16)), &quant)
	}
}

func FuzzIDCTReference(f *testing.F) {
	f.Add([]byte{1, 0, 2, 0xff, 0x80, 0}, []byte{3, 0x7f, 0xff})
	f.Fuzz(func(t *testing.T, values, table []byte) {
		if !hasVectors || len(values) == 0 || len(table) == 0 {
			return
		}
		coefs := make([][64]int16, 1+len(values)%5)
		var quant [64]uint16
		for i := range quant {
			quant[i] = uint16(table[i%len(table)])<<8 | uint16(table[(i+1)%len(table)])
		}
		for i := range 64 * len(coefs) {
			coefs[i/64][i%64] = int16(values[(2*i)%len(values)])<<8 | int16(values[(2*i+1)%len(values)])
		}
		mustMatch(t, coefs, &quant)
	})
}

// BenchmarkIDCT makes the samples of 64 blocks a turn.
func BenchmarkIDCT(b *testing.B) {
	if !hasVectors {
		b.Skip("the assembly does not run on this processor")
	}
	var quant [64]uint16
	for i := range quant {
		quant[i] = uint16(3 + i/8)
	}
	r := rand.New(rand.NewPCG(1, 2))
	full := make([][64]int16, 64)
	for i := range full {
		for range 15 {
			full[i][r.IntN(40)] = int16(r.IntN(100) - 50)
		}
	}
	dst := make([]byte, 64*64)
	for name, coefs := range map[string][][64]int16{"blocks": full, "flat": make([][64]int16, 64)} {
		for _, f := range idctReferences {
			b.Run(name+"/"+f.name+"/assembly", func(b *testing.B) {
				b.SetBytes(64 * 64)
				b.ReportAllocs()
				for b.Loop() {
					f.fast(dst, 512, coefs, &quant)
				}
			})
			b.Run(name+"/"+f.name+"/plain", func(b *testing.B) {
				b.SetBytes(64 * 64)
				b.ReportAllocs()
				for b.Loop() {
					f.plain(dst, 512, coefs, &quant)
				}
			})
		}
	}
}
