package decodeplan

import (
	"image"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/testpng"
)

func TestFor(t *testing.T) {
	photos, err := filepath.Glob("../../../testdata/demo/photos/daisy/*.jpg")
	if err != nil || len(photos) == 0 {
		t.Fatal(photos, err)
	}
	jpeg, err := os.ReadFile(photos[0])
	if err != nil {
		t.Fatal(err)
	}
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := codec.Stat(jpeg)
	if err != nil {
		t.Fatal(err)
	}
	other, err := codec.Stat(testpng.Encode(image.NewGray(image.Rect(0, 0, info.Width, info.Height))))
	if err != nil {
		t.Fatal(err)
	}
	w, h := info.Oriented()
	draw := func(text string) augment.Draw {
		p, err := augment.ParsePolicy(text)
		if err != nil {
			t.Fatal(err)
		}
		return p.Draw(1, "x", 0, w, h)
	}
	resize := &augment.ResizeSpec{Square: 64}
	nearest := &augment.ResizeSpec{Square: 64, Filter: augment.Nearest, NoAntialias: true}
	for _, c := range []struct {
		name    string
		spec    Spec
		info    augment.Info
		draw    augment.Draw
		planes  bool
		reduced bool // it may be decoded at a part of its size
		part    bool // only a part of it is needed
	}{
		{"nothing is done", Spec{}, info, augment.Draw{}, false, false, false},
		{"resized", Spec{Resize: resize}, info, augment.Draw{}, true, true, false},
		{"by a filter without planes", Spec{Resize: nearest}, info, augment.Draw{}, false, false, false},
		{"to gray", Spec{Resize: resize, Channels: 1}, info, augment.Draw{}, false, true, false},
		{"to RGB", Spec{Resize: resize, Channels: 3}, info, augment.Draw{}, true, true, false},
		{"exactly", Spec{Resize: resize, ExactPixels: true}, info, augment.Draw{}, false, false, false},
		{"not a JPEG", Spec{Resize: resize}, other, augment.Draw{}, false, true, false},
		{"cropped", Spec{Resize: resize}, info, draw("random_resized_crop:64"), true, true, true},
		{"cropped, not a JPEG", Spec{Resize: resize}, other, draw("random_resized_crop:64"), false, false, false},
		{"cropped exactly", Spec{Resize: resize, ExactPixels: true}, info, draw("random_resized_crop:64"), false, false, false},
		{"drawn without planes", Spec{Resize: resize}, info, draw("invert:1"), false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spec.Codec = codec
			p := c.spec.For(c.info, c.draw)
			o := p.Options
			if p.Planes != c.planes || (o.MinWidth > 0) != c.reduced || (o.MinHeight > 0) != c.reduced || (o.Part != image.Rectangle{}) != c.part || o.Channels != c.spec.Channels {
				t.Errorf("%+v", p)
			}
			if p.Planes {
				if _, err := codec.DecodePlanes(new(augment.Planes), jpeg, o); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
