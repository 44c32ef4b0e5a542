package png

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	stdpng "image/png"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/png/pngtest"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// randomPixels is an image of noise, of slopes, of flat areas, or of few values.
func randomPixels(r *rand.Rand, w, h, channels, depth int) Pixels {
	im := Pixels{Width: w, Height: h, Channels: channels, Depth: depth}
	stride := w*im.pixelBytes() + r.IntN(2)*r.IntN(9)
	im.Pix, im.Stride = make([]byte, stride*h), stride
	kind, slope, period := r.IntN(4), r.IntN(7), 1+r.IntN(20)
	for i := range im.Pix {
		x, y := i%stride/im.pixelBytes(), i/stride
		switch kind {
		case 0:
			im.Pix[i] = byte(r.Uint32())
		case 1:
			im.Pix[i] = byte(x*slope + y*(6-slope) + r.IntN(4))
		case 2:
			im.Pix[i] = byte((x/period + y/period) * 77)
		default:
			im.Pix[i] = byte(r.IntN(2) * 255)
		}
	}
	return im
}

// TestEncoder: image/png reads the pixels back, sizes are those of all kinds, and the bytes depend on
// nothing else.
func TestEncoder(t *testing.T) { eachFilter(t, testEncoder) }

func testEncoder(t *testing.T) {
	race.Skip(t)
	r := torture.Rand(t)
	var e Encoder
	for i := range 300 {
		w, h := 1+r.IntN(120), 1+r.IntN(40)
		switch i {
		case 0, 1:
			w, h = 1, 1
		case 2, 3:
			w, h = 2_000+i, 160 // more than the buffer of the compressor
		}
		im := randomPixels(r, w, h, 1+2*(i%2), 8<<r.IntN(2))
		data, err := e.Append([]byte("before"), im)
		if err != nil || !bytes.HasPrefix(data, []byte("before")) {
			t.Fatalf("%v, or what was there before is gone", err)
		}
		checkPixels(t, data[6:], im)
		if again, err := new(Encoder).Append(nil, im); err != nil || !bytes.Equal(again, data[6:]) {
			t.Errorf("%dx%dx%d: other bytes the second time, %v", w, h, im.Channels, err)
		}
	}
}

// checkPixels reads a file with image/png.
func checkPixels(t *testing.T, data []byte, im Pixels) {
	t.Helper()
	m, err := stdpng.Decode(bytes.NewReader(data))
	if err != nil || m.Bounds() != image.Rect(0, 0, im.Width, im.Height) {
		t.Fatalf("%dx%dx%d: %v", im.Width, im.Height, im.Channels, err)
	}
	models := map[color.Model]Pixels{
		color.GrayModel: {Channels: 1, Depth: 8}, color.RGBAModel: {Channels: 3, Depth: 8},
		color.Gray16Model: {Channels: 1, Depth: 16}, color.RGBA64Model: {Channels: 3, Depth: 16},
	}
	if is := models[m.ColorModel()]; is.Channels != im.Channels || is.Depth != im.Depth {
		t.Fatalf("%d channels of %d bits come back as %T", im.Channels, im.Depth, m)
	}
	for y := range im.Height {
		for x := range im.Width {
			p := im.Pix[y*im.Stride+x*im.pixelBytes():]
			sample := func(i int) uint16 {
				if im.Depth == 8 {
					return uint16(p[i]) * 0x101
				}
				return binary.BigEndian.Uint16(p[2*i:])
			}
			want := color.RGBA64{sample(0), sample(0), sample(0), 0xFFFF}
			if im.Channels == 3 {
				want.G, want.B = sample(1), sample(2)
			}
			if c := color.RGBA64Model.Convert(m.At(x, y)); c != want {
				t.Fatalf("%dx%dx%d: pixel %d,%d is %v, want %v", im.Width, im.Height, im.Channels, x, y, c, want)
			}
		}
	}
}

// TestEncoderFilters: each filter is the best for some row, and a row is made by it.
func TestEncoderFilters(t *testing.T) { eachFilter(t, testEncoderFilters) }

func testEncoderFilters(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	var e Encoder
	var chosen [filters]int
	for range 4000 {
		im := randomPixels(r, 1+r.IntN(90), 2, 1+2*r.IntN(2), 8<<r.IntN(2))
		n := im.pixelBytes()
		above, row := im.Pix[:im.Width*n], im.Pix[im.Stride:][:im.Width*n]
		e.reserve(len(row))
		filter := e.choose(row, above, n)
		chosen[filter]++
		line := row
		if filter != none {
			line = e.lines[filter]
		}
		if want := pngtest.ApplyFilter(filter, row, above, n); !bytes.Equal(line, want) {
			t.Fatalf("filter %d of pixels of %d bytes: %v and %v gave %v, want %v", filter, n, above, row, line, want)
		}
	}
	for filter, n := range chosen {
		if n == 0 {
			t.Errorf("filter %d is never the best", filter)
		}
	}
}

// TestEncoderFilterOfEqualRows: rows like the one above have the filter that the sums give them.
func TestEncoderFilterOfEqualRows(t *testing.T) {
	for row, want := range map[string]byte{"\x00\x00\x00": none, "\x00\x01\x01": up, "\xff\xff\xff": up} {
		var e Encoder
		e.reserve(len(row))
		if got := e.choose([]byte(row), []byte(row), 1); got != want {
			t.Errorf("%q: filter %d, want %d", row, got, want)
		}
	}
}

// FuzzEncoderFilter compares the assembly with the reference implementation. Nothing after a line may
// be written.
func FuzzEncoderFilter(f *testing.F) {
	f.Add(bytes.Repeat([]byte{1, 200, 3, 255, 0, 90, 128}, 40))
	r := rand.New(rand.NewPCG(4, 5))
	for size := range 140 {
		data := make([]byte, 2*size)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, n := range []int{1, 2, 3, 6} {
			size := len(data) / 2 / n * n
			if size == 0 {
				continue
			}
			row, above := data[:size], data[size:2*size]
			var got, want Encoder
			for _, e := range []*Encoder{&got, &want} {
				for i := range e.lines {
					e.lines[i] = bytes.Repeat([]byte{77}, size+40)[:size]
				}
			}
			if sums, wantSums := got.filter(row, above, n), want.filterPlain(row, above, n); sums != wantSums {
				t.Errorf("pixels of %d bytes, %v and %v: %v, want %v", n, above, row, sums, wantSums)
			}
			for i := sub; i < filters; i++ {
				if !bytes.Equal(got.lines[i][:size+40], want.lines[i][:size+40]) {
					t.Errorf("filter %d of pixels of %d bytes, %v and %v: %v, want %v", i, n, above, row, got.lines[i], want.lines[i])
				}
			}
		}
	})
}
