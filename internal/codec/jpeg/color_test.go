package jpeg

import (
	"bytes"
	"hash/fnv"
	"math/rand/v2"
	"testing"
)

// noiseOf are n bytes, of which some runs are 0 or 255.
func noiseOf(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	extreme := false
	for i := range b {
		if r.IntN(8) == 0 {
			extreme = !extreme
		}
		b[i] = byte(r.IntN(256))
		if extreme {
			b[i] = byte(int8(b[i]) >> 7)
		}
	}
	return b
}

// randomPlanes are planes of noise, their rows further apart than they must be.
func randomPlanes(r *rand.Rand, w, h int, sub Subsampling) *Planar {
	p := &Planar{Width: w, Height: h, Sampling: sub}
	for i := range p.Pix {
		pw, ph := p.size(i)
		p.Stride[i] = pw + r.IntN(4)
		p.Pix[i] = noiseOf(r, p.Stride[i]*(ph-1)+pw)
	}
	return p
}

// oddSizes are around those at which loops and edges change.
var oddSizes = [][2]int{{1, 1}, {2, 2}, {3, 1}, {4, 3}, {5, 4}, {6, 2}, {7, 9}, {31, 5}, {32, 4}, {33, 3}, {63, 2}, {65, 6}, {67, 7}, {68, 5}, {70, 3}, {97, 4}, {131, 8}, {500, 3}}

// TestPlanarRGB holds the enlarging and converting of planes to libjpeg-turbo's, which is asked
// for the planes and for the pixels of the same images, of all subsamplings and odd sizes.
func TestPlanarRGB(t *testing.T) {
	s := backends(t)["turbo"]
	if s == nil {
		t.Skip("libjpeg-turbo isn't there to judge")
	}
	r := rand.New(rand.NewPCG(21, 22))
	for sub := range SubGray {
		for _, size := range oddSizes {
			data, err := s.AppendPlanes(nil, randomPlanes(r, size[0], size[1], sub), 90)
			if err != nil {
				t.Fatal(err)
			}
			p := planesWith(t, s, data, 1)
			got := make([]byte, 3*p.Width*p.Height)
			p.RGB(got, 3*p.Width)
			want := decodeWith(t, s, data, Request{Format: RGB, Denom: 1})
			if at := differ(got, want); at >= 0 {
				t.Errorf("%dx%d, %v: %d for %d in channel %d at %d,%d", size[0], size[1], sub, got[at], want[at], at%3, at/3%p.Width, at/3/p.Width)
			}
		}
	}
}

// TestPlanarRGBOf: a part of an image has the pixels that it has in the whole.
func TestPlanarRGBOf(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for sub := range SubGray {
		for range 40 {
			p := randomPlanes(r, 1+r.IntN(150), 1+r.IntN(20), sub)
			w, h := 1+r.IntN(p.Width), 1+r.IntN(p.Height)
			x, y := r.IntN(p.Width-w+1), r.IntN(p.Height-h+1)
			all, part := make([]byte, 3*p.Width*p.Height), make([]byte, 3*w*h)
			p.RGB(all, 3*p.Width)
			p.RGBOf(part, 3*w, x, y, w, h)
			for i := range h {
				if !bytes.Equal(part[3*w*i:][:3*w], all[3*(p.Width*(y+i)+x):][:3*w]) {
					t.Fatalf("%dx%d at %d,%d of %dx%d, %v: other pixels in row %d", w, h, x, y, p.Width, p.Height, sub, i)
				}
			}
		}
	}
}

// TestPlanarRGBReference: assembly and plain Go make the same pixels, whatever the size.
func TestPlanarRGBReference(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for sub := range SubGray {
		for range 150 {
			p := randomPlanes(r, 1+r.IntN(300), 1+r.IntN(6), sub)
			stride := 3*p.Width + r.IntN(4)
			fast, plain := bytes.Repeat([]byte{99}, stride*p.Height+64), bytes.Repeat([]byte{99}, stride*p.Height+64)
			p.RGB(fast, stride)
			withoutAssembly(func() { p.RGB(plain, stride) })
			if at := differ(fast, plain); at >= 0 {
				t.Fatalf("%dx%d, %v: %d for %d at %d", p.Width, p.Height, sub, fast[at], plain[at], at)
			}
		}
	}
}

// differ is where a and b, of one length, differ first, or -1.
func differ(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// TestPlanarRGBBytes says what the bytes were when libjpeg-turbo had agreed to them.
func TestPlanarRGBBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	want := map[Subsampling]uint64{Sub420: 0xfed1c7a264075f9a, Sub422: 0xcadccc3deb9ab8e1, Sub444: 0x8154800a46d1b19f, Sub440: 0x5ab1933a26b68ce1}
	for sub := range SubGray {
		h := fnv.New64a()
		for _, size := range oddSizes {
			p := randomPlanes(r, size[0], size[1], sub)
			pix := make([]byte, 3*p.Width*p.Height)
			p.RGB(pix, 3*p.Width)
			h.Write(pix)
		}
		if got := h.Sum64(); got != want[sub] {
			t.Errorf("%v: %#x", sub, got)
		}
	}
}

// TestConvertRow: every YCbCr there is, of either range.
func TestConvertRow(t *testing.T) {
	if testing.Short() {
		t.Skip("2^24 colours")
	}
	var luma, cb, cr, fast, plain [3 * 256]byte
	for x := range 256 {
		luma[x] = byte(x)
	}
	for u := range 256 {
		for v := range 256 {
			for x := range 256 {
				cb[x], cr[x] = byte(u), byte(v)
			}
			convertRow(fast[:], luma[:256], cb[:256], cr[:256])
			convertRowPlain(plain[:], luma[:256], cb[:256], cr[:256])
			if !bytes.Equal(fast[:], plain[:]) {
				t.Fatalf("Cb %d, Cr %d: other colours", u, v)
			}
			convertVideoRow(fast[:], luma[:256], cb[:256], cr[:256])
			convertVideoRowPlain(plain[:], luma[:256], cb[:256], cr[:256])
			if !bytes.Equal(fast[:], plain[:]) {
				t.Fatalf("Cb %d, Cr %d in the range of video: other colours", u, v)
			}
		}
	}
}

// TestRowReference compares the assembly with its reference implementations on rows of all lengths.
func TestRowReference(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for n := 1; n < 300; n++ {
		checkRowReference(t, noiseOf(r, n), noiseOf(r, n), noiseOf(r, n))
	}
}

// FuzzRowReference is TestRowReference for any rows.
func FuzzRowReference(f *testing.F) {
	r := rand.New(rand.NewPCG(29, 30))
	for _, n := range []int{1, 2, 31, 32, 33, 34, 63, 65, 66, 67, 98, 130} {
		f.Add(noiseOf(r, 3*n))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if n := len(data) / 3; n > 0 {
			checkRowReference(t, data[:n], data[n:2*n], data[2*n:3*n])
		}
	})
}

// checkRowReference takes three rows of one length for luma and chroma, or for chroma. Nothing after
// the results may be written.
func checkRowReference(t *testing.T, near, far, third []byte) {
	t.Helper()
	n := len(near)
	for name, f := range map[string]struct {
		fast, plain func(dst []byte)
		n           int
	}{
		"convertRow":   {func(d []byte) { convertRow(d, near, far, third) }, func(d []byte) { convertRowPlain(d, near, far, third) }, 3 * n},
		"convertVideo": {func(d []byte) { convertVideoRow(d, near, far, third) }, func(d []byte) { convertVideoRowPlain(d, near, far, third) }, 3 * n},
		"doubleVideo":  {func(d []byte) { doubleVideo(d, near, far) }, func(d []byte) { doubleVideoPlain(d, near, far) }, 2*n - 2},
		"interleave":   {func(d []byte) { interleaveRow(d, near, far, third) }, func(d []byte) { interleaveRowPlain(d, near, far, third) }, 3 * n},
		"doubleAcross": {func(d []byte) { doubleAcross(d, near) }, func(d []byte) { doubleAcrossPlain(d, near) }, 2 * n},
		"doubleBoth":   {func(d []byte) { doubleBoth(d, near, far) }, func(d []byte) { doubleBothPlain(d, near, far) }, 2 * n},
		"doubleDown":   {func(d []byte) { doubleDown(d, near, far, 1+n&1) }, func(d []byte) { doubleDownPlain(d, near, far, 1+n&1) }, n},
	} {
		fast, plain := bytes.Repeat([]byte{99}, f.n+64), bytes.Repeat([]byte{99}, f.n+64)
		f.fast(fast[:f.n])
		f.plain(plain[:f.n])
		if at := differ(fast, plain); at >= 0 {
			t.Errorf("%s of %d: %d for %d at %d", name, n, fast[at], plain[at], at)
		}
	}
}

func BenchmarkPlanarRGB(b *testing.B) {
	r := rand.New(rand.NewPCG(27, 28))
	for sub := range SubGray {
		b.Run(sub.String(), func(b *testing.B) {
			p := randomPlanes(r, 500, 375, sub)
			pix := make([]byte, 3*p.Width*p.Height)
			b.SetBytes(int64(len(pix)))
			b.ReportAllocs()
			for b.Loop() {
				p.RGB(pix, 3*p.Width)
			}
		})
	}
}
