package imagefile

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/sniff"
)

// TestTrustedImages decodes what is trusted to the same pixels, and finds the same damage.
func TestTrustedImages(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/pictures/made-ok-160x88.jpg")
	if err != nil {
		t.Fatal(err)
	}
	for _, decoder := range []string{"turbo", "go"} {
		c, err := NewCodec(CodecOptions{Decoder: decoder})
		if err != nil {
			t.Logf("%s: %v", decoder, err)
			continue
		}
		var want, got bitmap.Image
		if _, err := c.Decode(&want, data, DecodeOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Decode(&got, data, DecodeOptions{Trusted: true}); err != nil || !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%s: trusted, the pixels differ, or %v", decoder, err)
		}
		for name, damaged := range map[string][]byte{
			"cut":     data[:len(data)*2/3],
			"no end":  data[:len(data)-2],
			"zeroed":  append(append(bytes.Clone(data[:len(data)/2]), make([]byte, 200)...), data[len(data)/2+200:]...),
			"no scan": data[:300],
		} {
			for _, trusted := range []bool{false, true} {
				if _, err := c.Decode(&got, damaged, DecodeOptions{Trusted: trusted}); !errors.Is(err, sniff.ErrDamaged) {
					t.Errorf("%s, %s, trusted %v: %v, want damage", decoder, name, trusted, err)
				}
				if _, err := c.DecodePlanes(new(bitmap.Planes), damaged, DecodeOptions{Trusted: trusted}); !errors.Is(err, sniff.ErrDamaged) {
					t.Errorf("%s, %s, trusted %v, planes: %v, want damage", decoder, name, trusted, err)
				}
			}
		}
	}
}
