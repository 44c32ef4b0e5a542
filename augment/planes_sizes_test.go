package augment

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// bothWays gathers what planes, from an image decoded at as small a part of its size as may be,
// differ from RGB, from all of it: in RGB, and in JPEG of quality 95 decoded again.
func bothWays(t *testing.T, c *Codec, s ResizeSpec, name string, data []byte, rgb, coded *quality) {
	t.Helper()
	info, err := c.Stat(data)
	if err != nil || !c.TakesPlanes(info) {
		t.Fatalf("%s: no planes, %v", name, err)
	}
	must := func(err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	g := s.Geometry(info.Width, info.Height)
	var whole, want, got Image
	_, err = c.Decode(&whole, data, DecodeOptions{Channels: 3})
	must(err)
	must(s.Render(&want, &whole, g, nil))
	var o DecodeOptions
	o.MinWidth, o.MinHeight = s.MinDecode(info.Width, info.Height)
	var part, small Planes
	_, err = c.DecodePlanes(&part, data, o)
	must(err)
	must(s.RenderRGB(&got, &part, g, nil))
	rgb.add(name, &want, &got)

	must(s.RenderPlanes(&small, &part, g, "420", nil))
	one, err := c.AppendJPEG(nil, &want, 95, "420")
	must(err)
	other, err := c.AppendJPEGPlanes(nil, &small, 95)
	must(err)
	_, err = c.Decode(&want, one, DecodeOptions{})
	must(err)
	_, err = c.Decode(&got, other, DecodeOptions{})
	must(err)
	coded.add(name, &want, &got)
}

// TestPlanesSizes holds both ways of photographs to each other at sizes down to those where the
// most is left out.
func TestPlanesSizes(t *testing.T) {
	race.Skip(t)
	c := newCodec(t, CodecOptions{})
	images := photographs(t, c)
	for _, size := range []int{16, 32, 64, 224} {
		least, mean := 33.0, 38.0
		if size < 64 {
			least, mean = 27, 36
		}
		for _, f := range []Filter{Bilinear, Area, Lanczos3} {
			var rgb, coded quality
			for name, data := range images {
				bothWays(t, c, ResizeSpec{Square: size, Filter: f}, name, data, &rgb, &coded)
			}
			rgb.check(t, fmt.Sprintf("%d %v", size, f), least, mean)
			coded.check(t, fmt.Sprintf("%d %v as JPEG", size, f), least, mean)
		}
	}
}

// TestPlanesDrawn does the same with what is hardest: edges between saturated colours, in chroma
// of half the size.
func TestPlanesDrawn(t *testing.T) {
	race.Skip(t)
	c := newCodec(t, CodecOptions{})
	var rgb, coded quality
	for _, side := range []int{1, 3, 8} {
		m := image.NewRGBA(image.Rect(0, 0, 640, 480))
		for y := range 480 {
			for x := range 640 {
				m.Set(x, y, [...]color.RGBA{{R: 255, A: 255}, {B: 255, A: 255}}[(x/side+y/side)%2])
			}
		}
		var file bytes.Buffer
		if err := jpeg.Encode(&file, m, &jpeg.Options{Quality: 95}); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{32, 224} {
			for _, f := range []Filter{Bilinear, Area, Lanczos3} {
				spec := ResizeSpec{Square: size, Filter: f}
				bothWays(t, c, spec, fmt.Sprintf("squares of %d to %d by %v", side, size, f), file.Bytes(), &rgb, &coded)
			}
		}
	}
	rgb.check(t, "drawn", 17, 30)
	coded.check(t, "drawn, as JPEG", 29, 34)
}
