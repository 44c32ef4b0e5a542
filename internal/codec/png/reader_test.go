package png

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/png/pngtest"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// decode decodes a file to red, green, blue and alpha, and checks the other conversions with that.
// Rows go into memory of the reader, or to dst.
func decode(t *testing.T, r *Reader, data []byte, ownRows bool) (*image.NRGBA, error) {
	t.Helper()
	if err := r.Reset(data); err != nil {
		return nil, err
	}
	if int64(r.Width)*int64(r.Height) > 1<<20 {
		return nil, errTooLarge
	}
	m := image.NewNRGBA(image.Rect(0, 0, r.Width, r.Height))
	for seen := 0; ; {
		var dst []byte
		if !ownRows {
			dst = make([]byte, r.RowBytes(r.Width))
		}
		row, at, err := r.Next(dst)
		if err == io.EOF {
			if seen != r.Width*r.Height {
				t.Errorf("%d pixels of %dx%d", seen, r.Width, r.Height)
			}
			return m, nil
		}
		if err != nil {
			return nil, err
		}
		seen += at.Width
		pixels, colors := make([]byte, 4*at.Width), make([]byte, 3*at.Width)
		r.RGBA(pixels, row)
		r.RGB(colors, row)
		gray, samples := make([]byte, at.Width), make([]byte, at.Width)
		if r.Color == Gray || r.Color == GrayAlpha {
			r.Gray(gray, row)
		}
		if r.Color == Palette {
			r.Samples(samples, row)
		}
		for x := range at.Width {
			p := pixels[4*x : 4*x+4]
			copy(m.Pix[m.PixOffset(at.X+x*at.Step, at.Y):], p)
			if !bytes.Equal(p[:3], colors[3*x:3*x+3]) {
				t.Fatalf("%v and %v", p, colors[3*x:3*x+3])
			}
			if (r.Color == Gray || r.Color == GrayAlpha) && gray[x] != p[0] {
				t.Fatalf("%d and %d", gray[x], p[0])
			}
			if r.Color == Palette && r.Colors[samples[x]] != [4]byte(p) {
				t.Fatalf("sample %d has %v, not %v", samples[x], p, r.Colors[samples[x]])
			}
		}
	}
}

var errTooLarge = errors.New("too large for a test")

// reference is what image/png makes of a file.
func reference(data []byte) (*image.NRGBA, error) {
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out := image.NewNRGBA(m.Bounds())
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			p := out.Pix[out.PixOffset(x, y):]
			switch m := m.(type) {
			case *image.Paletted:
				c := color.NRGBA{A: 255} // past the palette
				if i := int(m.ColorIndexAt(x, y)); i < len(m.Palette) {
					c = color.NRGBAModel.Convert(m.Palette[i]).(color.NRGBA)
					if n, ok := m.Palette[i].(color.NRGBA); ok {
						c = n
					}
				}
				p[0], p[1], p[2], p[3] = c.R, c.G, c.B, c.A
			case *image.NRGBA64:
				c := m.NRGBA64At(x, y)
				p[0], p[1], p[2], p[3] = byte(c.R>>8), byte(c.G>>8), byte(c.B>>8), byte(c.A>>8)
			case *image.NRGBA:
				copy(p, m.Pix[m.PixOffset(x, y):][:4])
			default: // opaque
				r, g, b, _ := m.At(x, y).RGBA()
				p[0], p[1], p[2], p[3] = byte(r>>8), byte(g>>8), byte(b>>8), 255
			}
		}
	}
	return out, nil
}

// check compares pixels and verdict with image/png's.
func check(t *testing.T, r *Reader, data []byte, ownRows bool) {
	t.Helper()
	got, err := decode(t, r, data, ownRows)
	if err == errTooLarge {
		return
	}
	want, wantErr := reference(data)
	switch {
	case wantErr != nil && err == nil:
		if !strings.Contains(wantErr.Error(), "too much pixel data") { // after the compressed ones
			t.Fatalf("%x is accepted, image/png says %v", data, wantErr)
		}
	case (err == nil) != (wantErr == nil):
		t.Fatalf("%x: %v, image/png says %v", data, err, wantErr)
	case err != nil:
		var e *Error
		if strings.Contains(wantErr.Error(), "dimension overflow") { // and it has not looked at the colour type
			small := bytes.Clone(data)
			copy(small[16:24], "\x00\x00\x00\x01\x00\x00\x00\x01")
			_, wantErr = png.Decode(bytes.NewReader(small))
		}
		var u png.UnsupportedError
		unsupported := errors.As(wantErr, &u)
		if !errors.As(err, &e) || len(data) >= 33 && e.Unsupported != unsupported || e.Offset < 0 || e.Offset > len(data) {
			t.Fatalf("%x: %v (%T), image/png says %v", data, err, err, wantErr)
		}
	case got.Rect != want.Rect || !bytes.Equal(got.Pix, want.Pix):
		t.Fatalf("%x: other pixels than image/png's", data)
	}
}

// TestReader compares with image/png over all colour types, depths, filters, sizes, ways to
// interlace and to divide the data.
func TestReader(t *testing.T) { eachFilter(t, testReader) }

func testReader(t *testing.T) {
	rng := torture.Rand(t)
	var r Reader
	for range 6 {
		for _, f := range pngtest.All(func() (int, int) { return 1 + rng.IntN(60), 1 + rng.IntN(20) }) {
			data := f.Encode(rng)
			check(t, &r, data, rng.IntN(2) == 0)
			if t.Failed() {
				t.Fatalf("%+v", f)
			}
			if rng.IntN(4) > 0 {
				continue
			}
			for range 3 { // damage
				bad := bytes.Clone(data)
				switch rng.IntN(3) {
				case 0:
					bad = bad[:rng.IntN(len(bad))]
				case 1:
					bad[rng.IntN(len(bad))] ^= byte(1 << rng.IntN(8))
				default:
					bad = append(bad[:rng.IntN(len(bad))], bad[rng.IntN(len(bad)):]...)
				}
				check(t, &r, bad, true)
			}
		}
		r.Release()
	}
}

// TestEveryByte: a file that lacks its end or has a bit changed anywhere is damaged.
func TestEveryByte(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	f := pngtest.Spec{Width: 9, Height: 7, Depth: 8, Color: pngtest.RGB}
	data := f.Encode(rng)
	var r Reader
	for i := range data {
		if _, err := decode(t, &r, data[:i], true); err == nil {
			t.Errorf("%d of %d bytes are accepted", i, len(data))
		}
		bad := bytes.Clone(data)
		bad[i] ^= 4
		if _, err := decode(t, &r, bad, true); err == nil {
			t.Errorf("accepted with byte %d changed", i)
		}
	}
}

// TestLarge decodes rows that are longer than the buffers.
func TestLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, f := range largeFixtures {
		check(t, new(Reader), f.Encode(rng), true)
	}
}

var largeFixtures = []pngtest.Spec{
	{Width: 100_000, Height: 3, Depth: 16, Color: pngtest.RGBA, Noisy: true}, {Width: 100_000, Height: 2, Depth: 8, Color: pngtest.RGB, Interlaced: true}, {Width: 1, Height: 1, Depth: 1},
}

// TestMemory: a Reader takes no more memory than it says.
func TestMemory(t *testing.T) {
	race.Skip(t)
	rng := rand.New(rand.NewPCG(9, 10))
	for _, f := range largeFixtures {
		data := f.Encode(rng)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := new(Reader)
		err := r.Reset(data)
		for err == nil {
			_, _, err = r.Next(nil)
		}
		runtime.ReadMemStats(&after)
		most := Memory(r.RowBytes(r.Width)) + 256<<10
		if taken := int64(after.TotalAlloc - before.TotalAlloc); err != io.EOF || taken > most {
			t.Errorf("%+v: %d bytes, want up to %d; %v", f, taken, most, err)
		}
	}
}

// TestCorpus compares the verdicts and pixels of files of the repository with image/png's.
func TestCorpus(t *testing.T) {
	files, _ := filepath.Glob("../../../testdata/*/*.png")
	shared, _ := filepath.Glob("../../../../shared/data/odd/*.png")
	if len(files) < 10 {
		t.Fatalf("%d files", len(files))
	}
	var r Reader
	for _, file := range append(files, shared...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) < 1<<20 && !strings.Contains(file, "bomb") {
			check(t, &r, data, true)
		}
	}
}

// FuzzReader compares with image/png on any data.
func FuzzReader(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, x := range pngtest.All(func() (int, int) { return 1 + rng.IntN(9), 1 + rng.IntN(9) }) {
		f.Add(x.Encode(rng))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Reader
		if r.Reset(data) == nil && int64(r.Width)*int64(r.Height) > 1<<16 {
			return
		}
		eachFilter(t, func(t *testing.T) { check(t, &r, data, len(data)%2 == 0) })
	})
}
