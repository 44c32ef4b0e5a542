package imagetest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

// Picture reads a file of testdata/pictures.
func Picture(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(root(tb), "testdata/pictures", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// root returns the directory of the module, which tests run below.
func root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("the module has no go.mod")
		}
		dir = filepath.Dir(dir)
	}
}

// NoisyPlanes are planes of random samples, rows a few bytes apart.
func NoisyPlanes(w, h, denom int, subsampling string, gap int) *bitmap.Planes {
	p := &bitmap.Planes{Subsampling: subsampling, Width: w, Height: h, Denom: denom}
	sub, err := bitmap.SamplingOf(p)
	if err != nil {
		panic(err)
	}
	yw, yh := (w+denom-1)/denom, (h+denom-1)/denom
	cw, ch := sub.ChromaSize(yw, yh)
	p.Y, p.Cb, p.Cr = *Spaced(Noise(yw, yh, 1), gap), *Spaced(Noise(cw, ch, 1), gap), *Spaced(Noise(ch, cw, 1), gap)
	p.Cr.Width, p.Cr.Height, p.Cr.Stride = cw, ch, cw
	return p
}

// Subsamplings are those that planes may have.
var Subsamplings = []string{"420", "422", "440", "444"}

// Noise is an image of random samples.
func Noise(w, h, channels int) *bitmap.Image {
	im := new(bitmap.Image)
	im.Reset(w, h, channels)
	r := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	for i := range im.Pix {
		im.Pix[i] = uint8(r.Uint32())
	}
	return im
}

// Spaced is the image in memory with room between its rows, and none after the last one.
func Spaced(im *bitmap.Image, gap int) *bitmap.Image {
	out := *im
	out.Stride += gap
	out.Pix = make([]uint8, (im.Height-1)*out.Stride+im.Width*im.Channels)
	for i := range out.Pix {
		out.Pix[i] = 0xa5
	}
	for y := range im.Height {
		copy(out.Row(y), im.Row(y))
	}
	return &out
}

// Wave is an image with something in it to see.
func Wave(w, h, channels int) *bitmap.Image {
	var im bitmap.Image
	im.Reset(w, h, channels)
	for i := range im.Pix {
		im.Pix[i] = uint8(i*7 + i/w*13)
	}
	return &im
}
