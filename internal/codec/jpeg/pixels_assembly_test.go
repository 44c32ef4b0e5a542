//go:build (amd64 || arm64) && !noasm

package jpeg

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// The assembly and its reference implementation make the same planes of RGB, with any padding after
// the pixels.
func TestFromRGBReference(t *testing.T) {
	if !hasVectors {
		t.Skip("the assembly does not run on this processor")
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
	if !hasVectors {
		t.Skip("the assembly does not run on this processor")
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
