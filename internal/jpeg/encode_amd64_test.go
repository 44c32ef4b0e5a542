//go:build !noasm

package jpeg

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// withoutAssembly runs f as on a processor that lacks AVX2 and BMI.
func withoutAssembly(f func()) {
	defer func(avx2, bmi, bmi2 bool) { hasAVX2, hasBMI, hasBMI2 = avx2, bmi, bmi2 }(hasAVX2, hasBMI, hasBMI2)
	hasAVX2, hasBMI, hasBMI2 = false, false, false
	f()
}

// The assembly and its reference implementation code coefficients to the same bits, over several
// rows, with runs of zeros of all lengths.
func TestEntropyReference(t *testing.T) {
	if !hasBMI {
		t.Skip("this processor has no BMI")
	}
	r := rand.New(rand.NewPCG(1, 2))
	codes := standardCodes()
	for i := range 300 {
		mcu := []codedBlock{{&codes[0], 0}, {&codes[0], 0}, {&codes[1], 1}, {&codes[1], 2}}[:1+i%4]
		var fast, plain entropyState
		for range 3 {
			n := len(mcu) * (1 + r.IntN(5))
			coefs, nonzero := make([]block, n), make([]uint64, n)
			for j := range coefs {
				for range r.IntN(70) >> r.IntN(7) {
					k := r.IntN(64)
					coefs[j][k] = int16(r.IntN(2040)-1020) >> r.IntN(11)
				}
				for k, v := range coefs[j] {
					if v != 0 {
						nonzero[j] |= 1 << k
					}
				}
			}
			a, b := make([]byte, n*maxBlockBytes+storeSlack), make([]byte, n*maxBlockBytes+storeSlack)
			a = a[:fast.blocks(a, coefs, nonzero, mcu)]
			b = b[:plain.blocksPlain(b, coefs, nonzero, mcu)]
			pending := func(e *entropyState) uint64 { return e.acc & (1<<e.have - 1) }
			if !bytes.Equal(a, b) || fast.have != plain.have || pending(&fast) != pending(&plain) || fast.means != plain.means {
				t.Fatalf("%d blocks, %d a MCU: %d bytes and %d bits, without assembly %d and %d, or other ones", n, len(mcu), len(a), fast.have, len(b), plain.have)
			}
		}
	}
}

// The assembly and its reference implementation make the same planes of RGB, with any padding after
// the pixels.
func TestFromRGBReference(t *testing.T) {
	if !hasAVX2 {
		t.Skip("this processor has no AVX2")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 140; n++ {
		for _, slack := range []int{0, 3, 4, 200} {
			rgb := make([]byte, 3*n+slack)
			randomSamples(r, rgb)
			room := (n + 31) / 32 * 32
			var fast, plain [3][]byte
			for i := range fast {
				fast[i], plain[i] = make([]byte, room), make([]byte, room)
			}
			fromRGB(fast[0], fast[1], fast[2], rgb, n)
			fromRGBPlain(plain[0], plain[1], plain[2], rgb, n)
			for i := range fast {
				if !bytes.Equal(fast[i][:n], plain[i][:n]) {
					t.Fatalf("%d pixels, %d bytes behind them: plane %d: other samples", n, slack, i)
				}
			}
		}
	}
}

// The assembly and its reference implementation make the same chroma.
func TestHalveReference(t *testing.T) {
	if !hasAVX2 {
		t.Skip("this processor has no AVX2")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		n := 32 * (1 + i%5)
		for _, f := range [][2]int{{2, 1}, {1, 2}, {2, 2}} {
			src := make([]byte, n*f[0]*f[1])
			randomSamples(r, src)
			fast, plain := make([]byte, n), make([]byte, n)
			halve(fast, src, f[0], f[1])
			halvePlain(plain, src, f[0], f[1])
			if !bytes.Equal(fast, plain) {
				t.Fatalf("%d samples of %v: other ones", n, f)
			}
		}
	}
}
