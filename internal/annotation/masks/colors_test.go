package masks

import (
	"bytes"
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/testpng"
)

func newCodec(t testing.TB) *augment.Codec {
	t.Helper()
	c, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// paint paints classes, in rows of w pixels, in their colors.
func paint(t testing.TB, classes []uint8, w int, colors [][3]uint8) []byte {
	im := image.NewNRGBA(image.Rect(0, 0, w, len(classes)/w))
	for i, class := range classes {
		c := colors[class]
		im.SetNRGBA(i%w, i/w, color.NRGBA{c[0], c[1], c[2], 255}) // encoded as RGB, since it is opaque
	}
	return testpng.Encode(im)
}

// randomColors returns n different colours; with near, such as differ by little.
func randomColors(r *rand.Rand, n int, near bool) [][3]uint8 {
	seen := map[[3]uint8]bool{}
	var colors [][3]uint8
	for len(colors) < n {
		c := [3]uint8{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32())}
		if near {
			c = [3]uint8{c[0] % 7, c[1] % 7, c[2] % 7}
		}
		if !seen[c] {
			seen[c], colors = true, append(colors, c)
		}
	}
	return colors
}

// TestColorsRoundTrip paints random classes in random colours, which decode to the classes.
func TestColorsRoundTrip(t *testing.T) {
	r, codec := rand.New(rand.NewPCG(2, 2)), newCodec(t)
	var got augment.Image
	for trial := range 100 {
		n := []int{1, 2, 21, 256}[trial%4]
		colors := randomColors(r, n, trial%3 == 0)
		w, h := 1+r.IntN(40), 1+r.IntN(40)
		classes := make([]uint8, w*h)
		for i := range classes {
			if classes[i] = uint8(r.IntN(n)); i > 0 && r.IntN(3) > 0 {
				classes[i] = classes[i-1]
			}
		}
		data := paint(t, classes, w, colors)
		if info, err := codec.Stat(data); err != nil || !IsRGB(info) {
			t.Fatalf("%+v, %v", info, err)
		}
		if err := NewColors(colors).Decode(codec, &got, data); err != nil {
			t.Fatal(err)
		}
		if got.Width != w || got.Height != h || got.Channels != 1 || got.Stride != w || !bytes.Equal(got.Pix, classes) {
			t.Fatalf("trial %d: %dx%dx%d of %d classes differ", trial, got.Width, got.Height, got.Channels, n)
		}
	}
}

func TestColorWithoutClass(t *testing.T) {
	colors := [][3]uint8{{0, 0, 0}, {128, 0, 0}, {1, 2, 3}}
	data := paint(t, []uint8{0, 1, 1, 1, 2, 0}, 3, colors)
	var im augment.Image
	err := NewColors(colors[:2]).Decode(newCodec(t), &im, data)
	if err == nil || err.Error() != "no class in labelmap.txt has the colour 1,2,3 of the pixel at x=1, y=1" {
		t.Error(err)
	}
}

func TestIsRGB(t *testing.T) {
	at := image.Rect(0, 0, 2, 2)
	opaque := image.NewNRGBA(at)
	for i := range opaque.Pix {
		opaque.Pix[i] = 255
	}
	opaque.Pix[0] = 1
	for name, c := range map[string]struct {
		im   image.Image
		want bool
	}{
		"RGB": {opaque, true}, "RGBA": {image.NewNRGBA(at), false}, "gray": {image.NewGray(at), false}, "16 bits": {image.NewNRGBA64(at), false},
		"palette": {image.NewPaletted(at, color.Palette{color.Black, color.White}), false},
	} {
		if info, err := newCodec(t).Stat(testpng.Encode(c.im)); err != nil || IsRGB(info) != c.want {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
}

func BenchmarkDecodeColors(b *testing.B) {
	const side, block = 2000, 20
	r := rand.New(rand.NewPCG(3, 3))
	colors := randomColors(r, 21, false)
	classes := make([]uint8, side*side)
	for i := range classes {
		x, y := i%side, i/side
		switch {
		case x%block == 0 && y%block == 0:
			classes[i] = uint8(r.IntN(len(colors)))
		case x%block == 0:
			classes[i] = classes[i-y%block*side]
		default:
			classes[i] = classes[i-1]
		}
	}
	data, codec, table := paint(b, classes, side, colors), newCodec(b), NewColors(colors)
	var im augment.Image
	b.SetBytes(side * side)
	b.ReportAllocs()
	for b.Loop() {
		if err := table.Decode(codec, &im, data); err != nil {
			b.Fatal(err)
		}
	}
}
