package jpeg

import (
	"bytes"
	"fmt"
	"image"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/testwait"
)

// mosaic is a sequential image of the photographs, repeated, without restart markers.
func mosaic(tb testing.TB, w, h int, sub Subsampling) []byte {
	tb.Helper()
	list, headers, _ := photographs(tb)
	pix := make([]byte, 3*w*h)
	for x, y, i, below := 0, 0, 0, h; y < h; i = (i + 1) % len(list) {
		p := headers[i]
		tile := decodeWith(tb, ownSet, list[i], Request{Format: RGB, Denom: 1})
		for row := range min(p.Height, h-y) {
			n := 3 * min(p.Width, w-x)
			copy(pix[3*((y+row)*w+x):][:n], tile[3*row*p.Width:])
		}
		below = min(below, y+p.Height)
		if x += p.Width; x >= w {
			x, y, below = 0, below, h
		}
	}
	out, err := ownSet.Append(nil, Pixels{Pix: pix, Width: w, Height: h, Stride: 3 * w, Format: RGB}, 90, sub)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// withPieces runs f with pieces of n blocks.
func withPieces(n int, f func()) {
	defer func(was int) { pieceBlocks = was }(pieceBlocks)
	pieceBlocks = n
	f()
}

// sameWithSpare decodes an image with processors that are spare and without, to planes where it has
// them, of all or a part that reaches the last row, and to pixels, and returns how often one was
// taken, and the verdict.
func sameWithSpare(t *testing.T, r *rand.Rand, data []byte) (taken int64, verdict error) {
	t.Helper()
	parsed, err := ParseHeader(data)
	h := &parsed
	if err != nil || ownSet.Supports(h) != nil || h.Width*h.Height > 1<<22 {
		return 0, err
	}
	free := newSpare(1 + r.Int64N(4))
	n := free.free.Load()
	denom := 1 << r.IntN(4)
	w, ht := h.Scaled(denom)
	var part image.Rectangle
	if r.IntN(3) == 0 {
		part = image.Rect(r.IntN(h.Width), r.IntN(h.Height), h.Width-r.IntN(h.Width), h.Height)
	}
	var planes [2]Planar
	var pixels [2][]byte
	var errs [2][2]error
	for i, s := range []Spare{nil, free} {
		if _, ok := ownSet.Planes(h); ok {
			errs[i][0] = ownSet.DecodePlanes(&planes[i], data, h, Request{Denom: denom, Part: part, Spare: s})
		}
		pixels[i] = make([]byte, 3*w*ht)
		errs[i][1] = ownSet.Decode(pixels[i], 3*w, data, h, Request{Format: RGB, Denom: denom, Spare: s})
	}
	if fmt.Sprint(errs[0]) != fmt.Sprint(errs[1]) {
		t.Errorf("%v, alone %v", errs[1], errs[0])
	}
	if errs[0][1] == nil && (!bytes.Equal(pixels[0], pixels[1]) || !slices.EqualFunc(planes[0].Pix[:], planes[1].Pix[:], bytes.Equal)) {
		t.Error("other samples than alone")
	}
	if free.free.Load() != n {
		t.Errorf("%d of %d processors were given back", free.free.Load(), n)
	}
	return free.taken.Load(), errs[0][1]
}

// TestDecodeSpeculative: with processors that are spare, images of every kind, sound, damaged and
// cut, give the same samples and the same verdict, and no goroutine is left.
func TestDecodeSpeculative(t *testing.T) {
	before := runtime.NumGoroutine()
	r := rand.New(rand.NewPCG(41, 42))
	var sound, damaged, taken int
	for i := range 1200 {
		data := generate(r)
		if i%2 > 0 {
			data = mutateImage(r, data)
		}
		withPieces(1+r.IntN(3), func() {
			n, err := sameWithSpare(t, r, data)
			if taken += int(min(n, 1)); err != nil {
				damaged++
			} else {
				sound++
			}
		})
		if t.Failed() {
			t.Fatalf("image %d: %x", i, data)
		}
	}
	for _, sub := range []Subsampling{Sub420, Sub422, Sub444, Sub440, SubGray} {
		whole := mosaic(t, 500+r.IntN(100), 400+r.IntN(100), sub)
		for try := range 8 {
			data := bytes.Clone(whole)
			at := 700 + r.IntN(len(data)-702)
			switch {
			case try < 2:
			case try < 4:
				data = append(data[:at], 0xFF, markerEOI)
			default:
				data[at] ^= 1 << r.IntN(8)
			}
			withPieces(8<<r.IntN(6), func() {
				n, err := sameWithSpare(t, r, data)
				if taken += int(min(n, 1)); err != nil {
					damaged++
				} else {
					sound++
				}
			})
			if t.Failed() {
				t.Fatalf("%v, try %d", sub, try)
			}
		}
	}
	t.Logf("%d sound, %d damaged, %d with help", sound, damaged, taken)
	if sound < 600 || damaged < 300 || taken < 200 {
		t.Error("too few to prove anything")
	}
	testwait.Until(func() bool { return runtime.NumGoroutine() <= before })
}

// TestSpeculatePanics: where a helper or the caller crashes, nothing is decoded and all processors
// are given back.
func TestSpeculatePanics(t *testing.T) {
	data := mosaic(t, 320, 240, Sub420)
	withPieces(16, func() {
		for _, room := range []int{0, 1000, 40000} {
			c := walked(t, data)
			c.planes[0].pix = c.planes[0].pix[:room]
			free := newSpare(3)
			c.spare = free
			if c.speculate(&c.scan, 0, c.scan.units) || free.free.Load() != 3 || free.taken.Load() == 0 {
				t.Errorf("room for %d samples: it decoded, or %d of 3 processors are left", room, free.free.Load())
			}
		}
	})
}

// walked is a checker that has decoded a sequential image of one segment, whose planes have targets.
func walked(tb testing.TB, data []byte) *checker {
	tb.Helper()
	c := new(checker)
	c.reset(data, header(tb, data))
	for i := range c.planes[:c.h.N] {
		c.planes[i].aim(nil, 8)
	}
	if err := c.run(); err != nil {
		tb.Fatal(err)
	}
	c.decoding, c.bits = true, bitReader{buf: c.bits.buf, end: c.bits.end}
	return c
}

// TestGuesses: nearly all guesses soon find where MCUs begin, and then have the blocks of the image.
func TestGuesses(t *testing.T) {
	for _, sub := range []Subsampling{Sub420, Sub422, Sub444, Sub440, SubGray} {
		c := walked(t, mosaic(t, 1024, 768, sub))
		s, at := &c.scan, position{bits: c.bits}
		starts := map[int]bool{}
		for at.unit < s.units {
			starts[at.bits.consumed()] = true
			n, f := s.decodeRun(&at.bits, &at.means, at.unit, 1)
			if f != 0 {
				t.Fatal(f)
			}
			at.unit += n
		}
		w := c.speculation(s, 0, s.units)
		w.size = 1 << 13
		w.pieces = ceilDiv(w.bits/8, w.size)
		misses, units := 0, 0
		for piece := range w.pieces {
			var g guess
			g.decode(w, piece)
			i := slices.IndexFunc(g.starts, func(s start) bool { return starts[s.bit] })
			if i < 0 {
				misses++
				continue
			}
			units += g.units - i
			for _, later := range g.starts[i:] {
				if !starts[later.bit] {
					t.Errorf("%v, piece %d: an MCU that the image lacks, after one that it has", sub, piece)
				}
			}
		}
		t.Logf("%v: %d of %d guesses without use, %d of %d MCUs guessed", sub, misses, w.pieces, units, s.units)
		if misses*10 > w.pieces || units*10 < s.units*8 {
			t.Errorf("%v: %d of %d guesses without use, %d of %d MCUs guessed", sub, misses, w.pieces, units, s.units)
		}
	}
}
