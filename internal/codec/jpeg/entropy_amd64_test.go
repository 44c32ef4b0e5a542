//go:build !noasm

package jpeg

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// withoutAssembly runs f as on a processor that lacks AVX2 and BMI.
func withoutAssembly(f func()) {
	defer func(avx2, bmi, bmi2 bool) { hasVectors, hasBMI, hasBMI2 = avx2, bmi, bmi2 }(hasVectors, hasBMI, hasBMI2)
	hasVectors, hasBMI, hasBMI2 = false, false, false
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
