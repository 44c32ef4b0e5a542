package imagefile

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/sniff"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

func newCodec(tb testing.TB, o CodecOptions) *Codec {
	tb.Helper()
	c, err := NewCodec(o)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestStat(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	tests := []struct {
		file string
		want Info // of which alpha, planar and usual are not compared
	}{
		{"made-ok-160x88.jpg", Info{Format: sniff.JPEG, Width: 160, Height: 88, Channels: 3, Orientation: 1, Keepable: true}},
		{"made-gray.jpg", Info{Format: sniff.JPEG, Width: 160, Height: 88, Channels: 1, Orientation: 1, Keepable: true}},
		{"made-cmyk-adobe.jpg", Info{Format: sniff.JPEG, Width: 160, Height: 88, Channels: 3, Orientation: 1}},
		{"made-adobe-rgb-transform-0.jpg", Info{Format: sniff.JPEG, Width: 160, Height: 88, Channels: 3, Orientation: 1, Keepable: true}},
		{"ljt-testimgari.jpg", Info{Format: sniff.JPEG, Width: 227, Height: 149, Channels: 3, Orientation: 1}},
		{"made-orientation-6-big-endian.jpg", Info{Format: sniff.JPEG, Width: 160, Height: 88, Channels: 3, Orientation: 6, Keepable: true}},
		{"made-orientation-6-long.jpg", Info{Format: sniff.JPEG, Width: 160, Height: 88, Channels: 3, Orientation: 6, Keepable: true}},
		{"made-orientation-6-second-exif.jpg", Info{Format: sniff.JPEG, Width: 160, Height: 88, Channels: 3, Orientation: 1, Keepable: true}},
		{"made-orientation-9.jpg", Info{Format: sniff.JPEG, Width: 160, Height: 88, Channels: 3, Orientation: 1, Keepable: true}},
		{"made-exif-loop.jpg", Info{Format: sniff.JPEG, Width: 160, Height: 88, Channels: 3, Orientation: 3, Keepable: true}},
		{"made-exif-count-huge.jpg", Info{Format: sniff.JPEG, Width: 160, Height: 88, Channels: 3, Orientation: 1, Keepable: true}},
		{"made-exif-offset-past-end.jpg", Info{Format: sniff.JPEG, Width: 160, Height: 88, Channels: 3, Orientation: 1, Keepable: true}},
		{"made-png-named.jpg", Info{Format: sniff.PNG, Width: 160, Height: 88, Channels: 3, Orientation: 1, Keepable: true}},
		{"made-exif-orientation-6.png", Info{Format: sniff.PNG, Width: 160, Height: 88, Channels: 3, Orientation: 6, Keepable: true}},
		{"made-rgba.png", Info{Format: sniff.PNG, Width: 160, Height: 88, Channels: 3, Orientation: 1}},
		{"made-la.png", Info{Format: sniff.PNG, Width: 160, Height: 88, Channels: 1, Orientation: 1}},
		{"made-palette-trns.png", Info{Format: sniff.PNG, Width: 160, Height: 88, Channels: 3, Orientation: 1, Mask: true}},
		{"pngsuite-ftbrn2c08.png", Info{Format: sniff.PNG, Width: 32, Height: 32, Channels: 3, Orientation: 1}},
		{"pngsuite-basn0g16.png", Info{Format: sniff.PNG, Width: 32, Height: 32, Channels: 1, Orientation: 1, Keepable: true, Deep: true}},
		{"pngsuite-basn4a16.png", Info{Format: sniff.PNG, Width: 32, Height: 32, Channels: 1, Orientation: 1, Deep: true}},
		{"goimage-video-001-gray-16bit.tiff", Info{Format: sniff.TIFF, Width: 150, Height: 103, Channels: 1, Orientation: 1, Deep: true}},
		{"made-gif-named.jpg", Info{Format: sniff.GIF, Width: 160, Height: 88, Channels: 3, Orientation: 1}},
		{"made-bmp-named.jpeg", Info{Format: sniff.BMP, Width: 40, Height: 22, Channels: 3, Orientation: 1}},
		{"made-animated.webp", Info{Format: sniff.WebP, Width: 80, Height: 44, Channels: 3, Orientation: 1}},
		{"made-exif-orientation-6.webp", Info{Format: sniff.WebP, Width: 160, Height: 88, Channels: 3, Orientation: 6}},
		{"made-cmyk.tiff", Info{Format: sniff.TIFF, Width: 160, Height: 88, Channels: 3, Orientation: 1}},
		{"pillow-g4_orientation_6.tif", Info{Format: sniff.TIFF, Width: 88, Height: 590, Channels: 1, Orientation: 6}},
	}
	for _, test := range tests {
		data := imagetest.Picture(t, test.file)
		got, err := c.Stat(data)
		got.Alpha, got.planar, got.Usual, got.tensorFlow, got.memory = false, false, false, false, 0
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v", test.file, got, err)
		}
		if sniff.Sniff(data) != test.want.Format {
			t.Errorf("%s: sniffed %q", test.file, sniff.Sniff(data))
		}
	}
}

func TestStatRefuses(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	for file, want := range map[string]error{
		"made-empty.jpg":                        sniff.ErrNotImage,
		"made-one-byte.jpg":                     sniff.ErrNotImage,
		"made-html.jpg":                         sniff.ErrNotImage,
		"made-bomb.bmp":                         sniff.ErrTooManyPixels,
		"made-bomb.gif":                         sniff.ErrTooManyPixels,
		"made-bomb-header.png":                  sniff.ErrTooManyPixels,
		"made-bomb-16000x16000.jpg":             sniff.ErrTooManyPixels,
		"made-bomb-65500x65500-progressive.jpg": sniff.ErrTooManyPixels,
		"made-zero.png":                         sniff.ErrDamaged,
		"made-zero-by-zero.jpg":                 sniff.ErrDamaged,
		"made-height-0.jpg":                     sniff.ErrUnsupported,
	} {
		if _, err := c.Stat(imagetest.Picture(t, file)); !errors.Is(err, want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	small := newCodec(t, CodecOptions{MaxPixels: 160*88 - 1})
	if _, err := small.Stat(imagetest.Picture(t, "made-ok-160x88.jpg")); !errors.Is(err, sniff.ErrTooManyPixels) || !strings.Contains(err.Error(), "160x88") {
		t.Errorf("%v", err)
	}
	exact := newCodec(t, CodecOptions{MaxPixels: 160 * 88})
	if _, err := exact.Stat(imagetest.Picture(t, "made-ok-160x88.jpg")); err != nil {
		t.Error(err)
	}
}

// TestTensorFlow: of these images TensorFlow opens some.
func TestTensorFlow(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	for file, want := range map[string]bool{
		"made-ok-160x88.jpg": true, "made-cmyk-adobe.jpg": true, "made-la.png": true, "pngsuite-basn0g16.png": true, "made-animated.gif": true,
		"pillow-transparent.webp": true, "made-bmp-named.jpeg": true, "goimage-yellow_rose-small-v5.bmp": true,
		"made-animated.webp": false, "made-cmyk.tiff": false, "pillow-bmp-g-pal8rle.bmp": false, "goimage-bmp_1bpp.bmp": false, "pillow-bmp-g-rgb16-565.bmp": false,
	} {
		data := imagetest.Picture(t, file)
		if info, err := c.Stat(data); err != nil || info.TensorFlow() != want {
			t.Errorf("%s: %t, %v", file, info.TensorFlow(), err)
		}
		if info, err := c.Stat(append(data, 0)); err != nil || info.TensorFlow() != (want && info.Format != sniff.BMP) {
			t.Errorf("%s and a byte: %t, %v", file, info.TensorFlow(), err)
		}
	}
}

// TestOrientation decodes the same image stored in eight ways.
func TestOrientation(t *testing.T) {
	for _, bytes := range []int{1, 2, 3, 6} { // of a pixel: two of a sample of 16 bits
		testOrientation(t, bytes)
	}
}

func testOrientation(t *testing.T, n int) {
	src := bitmap.Image{}
	src.Reset(5, 3, n)
	for i := range src.Pix {
		src.Pix[i] = byte(i)
	}
	at := func(im *bitmap.Image, x, y int) string { return string(im.Pix[y*im.Stride+x*n:][:n]) }
	var dst bitmap.Image
	for o, from := range map[int]func(x, y int) (int, int){ // where pixel (x, y) of the result comes from
		1: func(x, y int) (int, int) { return x, y },
		2: func(x, y int) (int, int) { return 4 - x, y },
		3: func(x, y int) (int, int) { return 4 - x, 2 - y },
		4: func(x, y int) (int, int) { return x, 2 - y },
		5: func(x, y int) (int, int) { return y, x },
		6: func(x, y int) (int, int) { return y, 2 - x },
		7: func(x, y int) (int, int) { return 4 - y, 2 - x },
		8: func(x, y int) (int, int) { return 4 - y, x },
	} {
		bitmap.Orient(&dst, &src, o)
		w, h := Info{Width: 5, Height: 3, Orientation: o}.Oriented()
		if dst.Width != w || dst.Height != h {
			t.Fatalf("orientation %d: %dx%d, want %dx%d", o, dst.Width, dst.Height, w, h)
		}
		for y := range h {
			for x := range w {
				if fx, fy := from(x, y); at(&dst, x, y) != at(&src, fx, fy) {
					t.Errorf("orientation %d: pixel (%d, %d) of %d bytes is not that at (%d, %d)", o, x, y, n, fx, fy)
				}
			}
		}
	}
	c := newCodec(t, CodecOptions{})
	var upright, turned bitmap.Image
	if _, err := c.Decode(&upright, imagetest.Picture(t, "made-ok-160x88.jpg"), DecodeOptions{}); err != nil {
		t.Fatal(err)
	}
	info, err := c.Decode(&turned, imagetest.Picture(t, "made-orientation-6-big-endian.jpg"), DecodeOptions{})
	if err != nil || info.Width != 160 || turned.Width != 88 || turned.Height != 160 {
		t.Fatalf("%v, %+v, %dx%d", err, info, turned.Width, turned.Height)
	}
	bitmap.Orient(&dst, &upright, 6)
	if !bytes.Equal(dst.Pix, turned.Pix) {
		t.Error("an image on its side is not the upright one, turned")
	}
}

func TestMinSize(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	var im bitmap.Image
	for _, test := range []struct {
		file             string
		minW, minH, w, h int
	}{
		{"made-ok-160x88.jpg", 0, 0, 160, 88},
		{"made-ok-160x88.jpg", 160, 88, 160, 88},
		{"made-ok-160x88.jpg", 81, 1, 160, 88},
		{"made-ok-160x88.jpg", 80, 44, 80, 44},
		{"made-ok-160x88.jpg", 1, 23, 80, 44},
		{"made-ok-160x88.jpg", 40, 22, 40, 22},
		{"made-ok-160x88.jpg", 1, 1, 20, 11},
		{"made-ok-160x88.jpg", 1, 0, 160, 88},
		{"made-ok-160x88.jpg", 1000, 1000, 160, 88},
		{"made-15x33.jpg", 2, 5, 2, 5},
		{"made-15x33.jpg", 3, 5, 4, 9},
		{"made-orientation-6-big-endian.jpg", 44, 80, 44, 80},
		{"made-orientation-6-big-endian.jpg", 80, 44, 88, 160},
		{"made-cmyk-adobe.jpg", 40, 22, 40, 22},
		{"made-png-named.jpg", 1, 1, 160, 88},
	} {
		for _, channels := range []int{1, 3} {
			_, err := c.Decode(&im, imagetest.Picture(t, test.file), DecodeOptions{Channels: channels, MinWidth: test.minW, MinHeight: test.minH})
			if err != nil || im.Width != test.w || im.Height != test.h || im.Channels != channels || len(im.Pix) != test.w*test.h*channels {
				t.Errorf("%s for %dx%d: %dx%dx%d, %v", test.file, test.minW, test.minH, im.Width, im.Height, im.Channels, err)
			}
		}
	}
}

// TestChannels compares grayscale with the luminance of the colours.
func TestChannels(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	for _, file := range []string{"made-ok-160x88.jpg", "made-gray.jpg", "made-cmyk-adobe.jpg", "made-component-ids-rgb.jpg", "made-png-named.jpg",
		"made-la.png", "made-gif-named.jpg", "made-bmp-named.jpeg", "made-exif-orientation-6.webp", "made-multipage.tiff"} {
		data := imagetest.Picture(t, file)
		var gray, color, stored bitmap.Image
		info, err := c.Decode(&stored, data, DecodeOptions{})
		if err != nil || stored.Channels != info.Channels {
			t.Fatalf("%s: %v, %d channels, %d announced", file, err, stored.Channels, info.Channels)
		}
		if _, err := c.Decode(&gray, data, DecodeOptions{Channels: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Decode(&color, data, DecodeOptions{Channels: 3}); err != nil {
			t.Fatal(err)
		}
		for i, v := range gray.Pix {
			p := color.Pix[3*i:]
			want := (299*int(p[0]) + 587*int(p[1]) + 114*int(p[2]) + 500) / 1000
			clipped := slices.Contains(p[:3], 0) || slices.Contains(p[:3], 255)
			if d := int(v) - want; !clipped && (d < -2 || d > 2) {
				t.Fatalf("%s: pixel %d is %d in gray and %v in colour", file, i, v, p[:3])
			}
		}
	}
	if _, err := c.Decode(new(bitmap.Image), imagetest.Picture(t, "made-gray.jpg"), DecodeOptions{Channels: 4}); err == nil {
		t.Error("4 channels were given")
	}
}

// TestBackground lays transparent images on colours: with two that differ by 255 the
// transparency comes out, and over an opaque image nothing does.
func TestBackground(t *testing.T) {
	black := newCodec(t, CodecOptions{Background: &[3]uint8{0, 0, 0}})
	white := newCodec(t, CodecOptions{Background: &[3]uint8{255, 255, 255}})
	for file, transparent := range map[string]bool{
		"made-rgba.png": true, "made-la.png": true, "made-palette-trns.png": true, "pngsuite-basn4a16.png": true, "pngsuite-ftbrn2c08.png": true,
		"pillow-transparent.gif": true, "pillow-transparent.webp": true,
		"made-png-named.jpg": false, "made-ok-160x88.jpg": false, "made-multipage.tiff": false, "made-bmp-named.jpeg": false,
	} {
		data := imagetest.Picture(t, file)
		var b, w bitmap.Image
		for codec, im := range map[*Codec]*bitmap.Image{black: &b, white: &w} {
			if _, err := codec.Decode(im, data, DecodeOptions{}); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
		if transparent && b.Channels != 3 {
			t.Errorf("%s: %d channels on a background that may have a colour", file, b.Channels)
		}
		differ := false
		for i, v := range w.Pix {
			if v < b.Pix[i] {
				t.Fatalf("%s: darker on white", file)
			}
			differ = differ || v != b.Pix[i]
		}
		if differ != transparent {
			t.Errorf("%s: the background shows: %v", file, differ)
		}
	}
}

func TestNewCodec(t *testing.T) {
	for _, o := range []CodecOptions{{Decoder: "fast"}, {MaxPixels: -1}} {
		if _, err := NewCodec(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	c := newCodec(t, CodecOptions{Decoder: "go"})
	if c.Decoder() != "tfrec 1" || c.Encoder() != "tfrec 1" {
		t.Errorf("%s, %s", c.Decoder(), c.Encoder())
	}
	for _, subsampling := range imagetest.Subsamplings {
		if err := c.Encodes(subsampling); err != nil {
			t.Error(err)
		}
	}
	if err := c.Encodes("411"); err == nil {
		t.Error("411 was taken")
	}
}

func TestAppendJPEG(t *testing.T) {
	for _, decoder := range []string{"auto", "go"} {
		c := newCodec(t, CodecOptions{Decoder: decoder})
		var im, again bitmap.Image
		for _, file := range []string{"made-png-named.jpg", "made-la.png"} {
			if _, err := c.Decode(&im, imagetest.Picture(t, file), DecodeOptions{}); err != nil {
				t.Fatal(err)
			}
			data, err := c.AppendJPEG(nil, &im, 95, "420")
			if err != nil {
				t.Fatal(err)
			}
			info, err := c.Decode(&again, data, DecodeOptions{})
			if err != nil || info.Channels != im.Channels || again.Width != im.Width || again.Height != im.Height {
				t.Errorf("%s: %+v, %v", file, info, err)
			}
			if im.Channels == 3 && apart(meanColor(&im), meanColor(&again)) > 1 {
				t.Errorf("%s: mean colour %v became %v", file, meanColor(&im), meanColor(&again))
			}
		}
		if _, err := c.AppendJPEG(nil, &im, 95, "fine"); err == nil {
			t.Error("a subsampling called fine was taken")
		}
	}
}

// TestConcurrentDecode decodes all kinds at once with one codec.
func TestConcurrentDecode(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	files := []string{"made-ok-160x88.jpg", "made-orientation-8-progressive.jpg", "made-rgba.png", "made-animated.gif", "made-animated.webp", "made-cmyk.tiff", "pillow-bmp-g-pal8rle.bmp"}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			var im bitmap.Image
			for j := range files {
				file := files[(i+j)%len(files)]
				if _, err := c.Decode(&im, imagetest.Picture(t, file), DecodeOptions{Channels: 3}); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		})
	}
	group.Wait()
}

// TestSteadyState makes sure that decoding photographs into the same Image takes no memory.
func TestSteadyState(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	data := imagetest.Picture(t, "made-orientation-6-big-endian.jpg")
	var im bitmap.Image
	n := testing.AllocsPerRun(50, func() {
		if _, err := c.Decode(&im, data, DecodeOptions{Channels: 3}); err != nil {
			t.Fatal(err)
		}
	})
	if n > 15 { // two; more under the race detector, where pools forget
		t.Errorf("%v allocations an image", n)
	}
}
