package imagefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/sniff"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// TestDecodePlanes: verdicts and sizes are those of Decode, for every image of the corpus.
func TestDecodePlanes(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/pictures/*.jp*g")
	if err != nil || len(files) == 0 {
		t.Fatal("no pictures", err)
	}
	for _, decoder := range []string{"auto", "go"} {
		c := newCodec(t, CodecOptions{Decoder: decoder})
		taken := 0
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			info, err := c.Stat(data)
			var p bitmap.Planes
			if err != nil || !c.TakesPlanes(info) {
				if _, got := c.DecodePlanes(&p, data, DecodeOptions{}); got == nil || err != nil && got.Error() != err.Error() {
					t.Errorf("%s, %s: planes, %v; %v", decoder, filepath.Base(file), got, err)
				}
				continue
			}
			taken++
			for _, o := range []DecodeOptions{{Channels: 3}, {Channels: 3, MinWidth: 30, MinHeight: 20}} {
				var im, rgb bitmap.Image
				_, want := c.Decode(&im, data, o)
				again, got := c.DecodePlanes(&p, data, o)
				if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() || again != info {
					t.Errorf("%s, %s: %v, and %v in planes", decoder, filepath.Base(file), want, got)
					continue
				}
				if got != nil {
					mustWrap(t, got)
					continue
				}
				if err := p.RGB(&rgb); err != nil {
					t.Fatal(err)
				}
				if rgb.Width != im.Width || rgb.Height != im.Height {
					t.Errorf("%s, %s: %dx%d, and %dx%d in planes", decoder, filepath.Base(file), im.Width, im.Height, rgb.Width, rgb.Height)
				}
			}
		}
		if taken < 20 {
			t.Errorf("%s: %d images in planes", decoder, taken)
		}
	}
	c := newCodec(t, CodecOptions{})
	if _, err := c.DecodePlanes(new(bitmap.Planes), imagetest.Picture(t, "made-ok-160x88.jpg"), DecodeOptions{Channels: 1}); err == nil {
		t.Error("planes of one channel came")
	}
	if _, err := c.DecodePlanes(new(bitmap.Planes), imagetest.Picture(t, "made-rgba.png"), DecodeOptions{}); !errors.Is(err, sniff.ErrUnsupported) {
		t.Errorf("a PNG: %v", err)
	}
}
