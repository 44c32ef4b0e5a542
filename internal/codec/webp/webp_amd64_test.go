//go:build !noasm

package webp

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// withoutAssembly runs f as on a processor that lacks AVX2.
func withoutAssembly(f func()) {
	defer func(old bool) { hasAVX2 = old }(hasAVX2)
	hasAVX2 = false
	f()
}

// twice calls f with and without assembly and returns what it makes.
func twice[T any](f func() T) (fast, plain T) {
	withoutAssembly(func() { plain = f() })
	return f(), plain
}

// TestBlocksReference compares transforms and predictions with their reference implementations on
// coefficients and samples that no image has.
func TestBlocksReference(t *testing.T) {
	race.Skip(t)
	if !hasAVX2 {
		t.Skip("this processor has no AVX2")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20000 {
		checkBlock(t, noise(r, 32), noise(r, 26*workStride), i)
	}
}

// checkBlock takes 16 coefficients and a buffer.
func checkBlock(t *testing.T, coefs, work []byte, i int) {
	t.Helper()
	at := yAt + i&3*4 + i>>2&3*4*workStride
	size := []int{16, 8, 4}[i%3]
	for name, f := range map[string]func(w *[26 * workStride]byte, c *[16]int16){
		"inverseDCT": func(w *[26 * workStride]byte, c *[16]int16) { inverseDCT(w, at, c) },
		"addDC":      func(w *[26 * workStride]byte, c *[16]int16) { addDC(w, at, c[0]) },
		"predictTM":  func(w *[26 * workStride]byte, c *[16]int16) { predictTM(w, yAt, size) },
	} {
		type result struct {
			work  [26 * workStride]byte
			coefs [16]int16
		}
		fast, plain := twice(func() (out result) {
			copy(out.work[:], work)
			for k := range out.coefs {
				out.coefs[k] = int16(coefs[2*k]) | int16(coefs[2*k+1])<<8
			}
			f(&out.work, &out.coefs)
			return out
		})
		if fast != plain {
			t.Fatalf("%s at %d, size %d: other samples for %v", name, at, size, coefs)
		}
	}
}

// TestFilterReference compares the loop filters on noise of little and of much contrast, and checks
// that nothing around the edge changes.
func TestFilterReference(t *testing.T) {
	race.Skip(t)
	if !hasAVX2 {
		t.Skip("this processor has no AVX2")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		pix := noise(r, 3*48*48)
		contrast, base := byte(1+r.IntN(255)), byte(r.IntN(256))
		for i := range pix {
			pix[i] = base + pix[i]%contrast
		}
		checkFilters(t, pix, int8(r.IntN(64)), uint8(r.IntN(8)))
	}
}

// checkFilters takes three planes of 48 x 48 samples.
func checkFilters(t *testing.T, pix []byte, level int8, sharpness uint8) {
	t.Helper()
	const stride, at = 48, 16*48 + 16
	var f filterLevels
	f.set(level, sharpness)
	for name, filter := range map[string]func(y, cb, cr []byte){
		"simpleAcross":      func(y, cb, cr []byte) { simpleAcross(y, at, stride, &f.edge) },
		"simpleDown":        func(y, cb, cr []byte) { simpleDown(y, at, stride, &f.edge) },
		"outerAcrossLuma":   func(y, cb, cr []byte) { outerAcrossLuma(y, at, stride, &f) },
		"outerDownLuma":     func(y, cb, cr []byte) { outerDownLuma(y, at, stride, &f) },
		"innerAcrossLuma":   func(y, cb, cr []byte) { innerAcrossLuma(y, at, stride, &f) },
		"innerDownLuma":     func(y, cb, cr []byte) { innerDownLuma(y, at, stride, &f) },
		"outerAcrossChroma": func(y, cb, cr []byte) { outerAcrossChroma(cb, cr, at, stride, &f) },
		"outerDownChroma":   func(y, cb, cr []byte) { outerDownChroma(cb, cr, at, stride, &f) },
		"innerAcrossChroma": func(y, cb, cr []byte) { innerAcrossChroma(cb, cr, at, stride, &f) },
		"innerDownChroma":   func(y, cb, cr []byte) { innerDownChroma(cb, cr, at, stride, &f) },
	} {
		fast, plain := twice(func() []byte {
			p := bytes.Clone(pix)
			filter(p[:stride*stride], p[stride*stride:2*stride*stride], p[2*stride*stride:])
			return p
		})
		if !bytes.Equal(fast, plain) {
			t.Fatalf("%s, level %d, sharpness %d: other samples", name, level, sharpness)
		}
	}
}

// TestBlockTokensReference compares the reading of coefficients: the coefficients, and the reader
// after them.
func TestBlockTokensReference(t *testing.T) {
	race.Skip(t)
	if !hasAVX2 {
		t.Skip("this processor has no AVX2")
	}
	for _, seed := range torture.Sample(t, 80, torture.Seeds(400, 4000)) {
		r := rand.New(rand.NewPCG(seed, 6))
		checkTokens(t, r.Uint64(), noise(r, 200+r.IntN(2000)))
	}
}

// checkTokens reads blocks of data until its end, by random probabilities.
func checkTokens(t *testing.T, seed uint64, data []byte) {
	t.Helper()
	var fast, plain boolReader
	fast.init(data)
	plain.init(data)
	r := rand.New(rand.NewPCG(seed, 0))
	var probs tokenProbs
	for i := range probs {
		for j := range probs[i] {
			for k := range probs[i][j] {
				probs[i][j][k] = byte(r.Uint32() >> r.IntN(8))
				if seed%4 == 0 {
					probs[i][j][k] = 255 - probs[i][j][k]&1 // which make unlikely bits long
				}
			}
		}
	}
	for !plain.end {
		steps := [2]uint16{uint16(r.IntN(500)), uint16(r.IntN(500))}
		context, from := r.IntN(3), r.IntN(2)
		var coefs [2][16]int16
		end := readBlock(&fast, &probs, context, from, &steps, &coefs[0])
		wanted := readBlockPlain(&plain, &probs, context, from, &steps, &coefs[1])
		if end != wanted || coefs[0] != coefs[1] {
			t.Fatalf("%d coefficients %v, want %d, %v", end, coefs[0], wanted, coefs[1])
		}
		// They may have taken different numbers of bytes for the same bits.
		if fast.end != plain.end || !fast.end && (fast.width != plain.width || 8*fast.pos-fast.n != 8*plain.pos-plain.n) {
			t.Fatalf("the readers stand at %d and %d", 8*fast.pos-fast.n, 8*plain.pos-plain.n)
		}
	}
}

// TestPredictorsReference compares the inversion of predictions on runs of all lengths.
func TestPredictorsReference(t *testing.T) {
	race.Skip(t)
	if !hasAVX2 {
		t.Skip("this processor has no AVX2")
	}
	r := rand.New(rand.NewPCG(9, 10))
	for i := range 3000 {
		checkPredictors(t, noise(r, 4*(2*(i%70)+3)))
	}
}

// checkPredictors takes pixels above, beginning with one more to the left, and then of the run.
func checkPredictors(t *testing.T, pixels []byte) {
	t.Helper()
	n := (len(pixels)/4 - 1) / 2
	for name, invert := range map[string]func(run []byte, left uint32, above []byte){
		"invertSelect": invertSelect, "invertGradient": invertGradient, "invertHalf": invertHalf,
	} {
		fast, plain := twice(func() []byte {
			p := bytes.Clone(pixels)
			invert(p[4*(n+1):4*(2*n+1)], pixel(p), p[:4*(n+1)])
			return p
		})
		if !bytes.Equal(fast, plain) {
			t.Fatalf("%s of %d: other pixels", name, n)
		}
	}
}

// FuzzReference compares all assembly with its reference implementations.
func FuzzReference(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 8))
	f.Add(uint64(1), byte(20), noise(r, 700))
	f.Fuzz(func(t *testing.T, seed uint64, level byte, data []byte) {
		if !hasAVX2 || len(data) == 0 {
			return
		}
		pix := bytes.Repeat(data, 3*48*48/len(data)+1)[:3*48*48]
		checkFilters(t, pix, int8(level&63), level>>6)
		checkBlock(t, pix, pix[32:], int(seed&0xFFFF))
		checkTokens(t, seed, data[:min(len(data), 1000)])
		checkPredictors(t, pix[:4*(1+2*int(level))])
	})
}
