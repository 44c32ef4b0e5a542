package augment

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

func TestAppendPNG(t *testing.T) {
	for _, im := range []*Image{
		imagetest.Noise(1, 1, 3), imagetest.Noise(1, 1, 1), imagetest.Noise(1, 9, 3), imagetest.Noise(9, 1, 1), imagetest.Noise(33, 21, 3),
		imagetest.Spaced(imagetest.Noise(33, 21, 3), 7), imagetest.Spaced(imagetest.Noise(20, 21, 1), 7), photograph(t, 64, 48),
	} {
		prefix := []byte("before")
		data, err := AppendPNG(prefix, im)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, prefix) {
			t.Fatal("what was there before is gone")
		}
		again, err := AppendPNG(nil, im)
		if err != nil || !bytes.Equal(again, data[len(prefix):]) {
			t.Errorf("%dx%d: other bytes the second time, %v", im.Width, im.Height, err)
		}
		got, err := png.Decode(bytes.NewReader(again))
		if err != nil {
			t.Fatalf("%dx%dx%d: %v", im.Width, im.Height, im.Channels, err)
		}
		if got.Bounds() != image.Rect(0, 0, im.Width, im.Height) {
			t.Fatalf("%v, want %dx%d", got.Bounds(), im.Width, im.Height)
		}
		if _, gray := got.(*image.Gray); gray != (im.Channels == 1) {
			t.Errorf("%d channels come back as %T", im.Channels, got)
		}
		for y := range im.Height {
			for x := range im.Width {
				p := im.Row(y)[x*im.Channels:]
				want := color.RGBA{p[0], p[0], p[0], 255}
				if im.Channels == 3 {
					want.G, want.B = p[1], p[2]
				}
				if c := color.RGBAModel.Convert(got.At(x, y)); c != want {
					t.Fatalf("%dx%dx%d: pixel %d,%d is %v, want %v", im.Width, im.Height, im.Channels, x, y, c, want)
				}
			}
		}
	}
	if out, err := AppendPNG([]byte("x"), &Image{}); err == nil || string(out) != "x" {
		t.Errorf("an empty image: %q, %v", out, err)
	}
}

// Each filter is the best for some row: the image shrinks to next to nothing.
func TestPNGFilters(t *testing.T) {
	for name, sample := range map[string]func(x, y int) int{
		"flat":     func(x, y int) int { return 200 },
		"sub":      func(x, y int) int { return x*3 + y*y*y*31 },
		"up":       func(x, y int) int { return x*x*x*31 + y },
		"gradient": func(x, y int) int { return x*5 + y*7 },
	} {
		var im Image
		im.Reset(100, 100, 1)
		for i := range im.Pix {
			im.Pix[i] = uint8(sample(i%100, i/100))
		}
		data, err := AppendPNG(nil, &im)
		if err != nil || len(data) > 1500 {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
}

func TestAppendRaw(t *testing.T) {
	im := imagetest.Noise(5, 4, 3)
	if got := AppendRaw([]byte{9}, imagetest.Spaced(im, 3)); !bytes.Equal(got, append([]byte{9}, im.Pix...)) {
		t.Errorf("got %v", got)
	}
}

func TestAppendFloat32(t *testing.T) {
	n := Normalize{Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}}
	// By NumPy, in float32: (np.float32(x) / 255 - mean) / std.
	for _, c := range []struct {
		x    uint8
		c    int
		want float32
	}{{0, 0, -2.117904}, {255, 0, 2.2489083}, {128, 1, 0.20518216}, {1, 2, -1.787015}} {
		if got := n.Of(c.x, c.c); math.Abs(float64(got-c.want)) > 1e-6 {
			t.Errorf("%d in channel %d becomes %v, want %v", c.x, c.c, got, c.want)
		}
	}
	if got := (Normalize{}).Of(51, 1); got != float32(51)/255 {
		t.Errorf("without mean and deviation: %v", got)
	}
	for _, channels := range []int{1, 3} {
		im := imagetest.Noise(7, 5, channels)
		got := AppendFloat32([]byte("ab"), imagetest.Spaced(im, 2), n)
		if string(got[:2]) != "ab" || len(got) != 2+4*len(im.Pix) {
			t.Fatalf("%d channels: %d bytes", channels, len(got))
		}
		for i, x := range im.Pix {
			v := math.Float32frombits(binary.LittleEndian.Uint32(got[2+4*i:]))
			if want := n.Of(x, i%channels); v != want {
				t.Fatalf("%d channels: sample %d (%d) is %v, want %v", channels, i, x, v, want)
			}
		}
	}
}

func TestNormalizeValidate(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		n   Normalize
		err string
	}{
		{Normalize{}, ""},
		{Normalize{Mean: [3]float32{-1, 2, 3}, Std: [3]float32{0, 1, 2}}, ""},
		{Normalize{Mean: [3]float32{0, nan}}, "mean NaN of channel 1"},
		{Normalize{Std: [3]float32{0, 0, -1}}, "deviation -1 of channel 2"},
		{Normalize{Std: [3]float32{inf}}, "deviation +Inf of channel 0"},
	} {
		err := c.n.Validate()
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: error %v, want %q", c.n, err, c.err)
		}
	}
}

func TestGrayAndRGB(t *testing.T) {
	rgb := imagetest.Spaced(imagetest.Noise(9, 6, 3), 4)
	copy(rgb.Pix, []uint8{255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255})
	var gray, back Image
	if err := ToGray(&gray, rgb); err != nil {
		t.Fatal(err)
	}
	if want := []uint8{255, 76, 150, 29}; !bytes.Equal(gray.Pix[:4], want) { // Pillow's
		t.Errorf("white, red, green, blue become %v, want %v", gray.Pix[:4], want)
	}
	if err := ToRGB(&back, &gray); err != nil {
		t.Fatal(err)
	}
	for i, v := range gray.Pix {
		if p := back.Pix[3*i : 3*i+3]; p[0] != v || p[1] != v || p[2] != v {
			t.Fatalf("pixel %d of %d becomes %v", i, v, p)
		}
	}
	var again Image
	if err := ToGray(&again, &gray); err != nil || !bytes.Equal(again.Pix, gray.Pix) {
		t.Errorf("gray isn't copied as it is: %v", err)
	}
	if err := ToRGB(&again, rgb); err != nil || !bytes.Equal(again.Pix, AppendRaw(nil, rgb)) {
		t.Errorf("RGB isn't copied as it is: %v", err)
	}
	if err := ToGray(rgb, rgb); err != nil || rgb.Channels != 1 || !bytes.Equal(rgb.Pix, gray.Pix) {
		t.Errorf("not in place: %v", err)
	}
	if ToRGB(&gray, &gray) == nil || ToRGB(&back, &Image{}) == nil || ToGray(&back, &Image{}) == nil {
		t.Error("no error from images that are none, or from the result as the source")
	}
}
