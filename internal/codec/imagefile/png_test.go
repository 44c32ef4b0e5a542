package imagefile

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/png/pngtest"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// TestDecodePNG compares pixels, masks and verdicts with what image/png gives, over all colour
// types, depths and filters, interlaced or not, damaged or not, with a background or without.
func TestDecodePNG(t *testing.T) {
	race.Skip(t)
	r := torture.Rand(t)
	plain, colored := newCodec(t, CodecOptions{}), newCodec(t, CodecOptions{Background: &[3]uint8{9, 120, 200}})
	for range 3 {
		for _, spec := range pngtest.All(func() (int, int) { return 1 + r.IntN(50), 1 + r.IntN(20) }) {
			data := spec.Encode(r)
			if r.IntN(5) == 0 {
				data[r.IntN(len(data))] ^= byte(1 << r.IntN(8))
			}
			for _, c := range []*Codec{plain, colored} {
				for _, channels := range []int{0, 1, 3} {
					checkPNG(t, c, data, channels)
				}
			}
			if t.Failed() {
				t.Fatalf("%+v", spec)
			}
		}
	}
}

// checkPNG compares decoding with image/png and the conversion that other formats have.
func checkPNG(t *testing.T, c *Codec, data []byte, channels int) {
	t.Helper()
	h, statErr := c.header(data)
	if statErr == nil && h.Width*h.Height > 1<<20 {
		return // a damaged size
	}
	var got, want, mask bitmap.Image
	info, err := c.Decode(&got, data, DecodeOptions{Channels: channels})
	if _, checked := c.Check(data); (checked == nil) != (err == nil) {
		t.Errorf("decoding says %v, the check %v", err, checked)
	}
	_, maskErr := c.DecodeMask(&mask, data)
	if statErr != nil && err != nil {
		return
	}
	m, pngErr := png.Decode(bytes.NewReader(data))
	if statErr != nil || (err == nil) != (pngErr == nil) || (maskErr == nil) != (err == nil && info.Mask) {
		t.Fatalf("%v, as a mask %v; the header says %v, image/png %v", err, maskErr, statErr, pngErr)
	}
	if err != nil {
		mustWrap(t, err)
		return
	}
	if channels == 0 {
		channels = got.Channels
	}
	if err := c.convert(&want, m, &h, channels); err != nil {
		t.Fatal(err)
	}
	if got.Width != want.Width || got.Height != want.Height || got.Channels != want.Channels || !bytes.Equal(got.Pix, want.Pix) {
		t.Errorf("%d channels, background %v: other pixels", channels, c.background)
	}
	if maskErr != nil {
		return
	}
	for y := range mask.Height {
		for x, v := range mask.Row(y) {
			var class uint8
			switch m := m.(type) {
			case *image.Gray: // scaled samples repeat the bits of the stored ones
				class = m.GrayAt(x, y).Y >> (8 - data[24])
			case *image.Paletted:
				class = m.ColorIndexAt(x, y)
			}
			if v != class {
				t.Fatalf("the class at %d,%d is %d, want %d", x, y, v, class)
			}
		}
	}
}
