package convert

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/imagekey"
)

// pixelsOf decodes the image in a record.
func pixelsOf(t *testing.T, c *augment.Codec, m map[string]any) []float64 {
	t.Helper()
	data := m[imagekey.Encoded].([][]byte)[0]
	var pixels []float64
	switch format := string(m[imagekey.Format].([][]byte)[0]); format {
	case "raw":
		for _, v := range data {
			pixels = append(pixels, float64(v))
		}
	case "float32":
		for ; len(data) > 0; data = data[4:] {
			pixels = append(pixels, 255*float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
		}
	default:
		var im augment.Image
		if _, err := c.Decode(&im, data, augment.DecodeOptions{Channels: 3}); err != nil {
			t.Fatal(err)
		}
		for _, v := range im.Pix {
			pixels = append(pixels, float64(v))
		}
	}
	return pixels
}

// TestPlanesAndExactPixels converts photographs with and without ExactPixels; the pixels are as
// close as package augment documents: 37 dB each and 42 on average.
func TestPlanesAndExactPixels(t *testing.T) {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	small := augment.ResizeSpec{Width: 120, Height: 90}
	for _, test := range []struct {
		name string
		o    ImageOptions
	}{
		{"raw", ImageOptions{Encode: EncodeSpec{Format: Raw}, Resize: small}},
		{"png", ImageOptions{Encode: EncodeSpec{Format: PNG}, Resize: small}},
		{"float32", ImageOptions{Encode: EncodeSpec{Format: Float32}, Resize: small}},
		{"jpeg", ImageOptions{Encode: EncodeSpec{Format: JPEG}, Resize: small}},
		{"crop", ImageOptions{Encode: EncodeSpec{Format: Raw}, Augment: AugmentSpec{Policy: policy(t, "random_resized_crop:96|hflip")}}},
		{"crop, then resize", ImageOptions{Encode: EncodeSpec{Format: Raw}, Resize: small, Augment: AugmentSpec{Policy: policy(t, "random_resized_crop:96|invert:1"), KeepOriginal: true}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			type key struct{ name, copy string }
			var sets [2]map[key]map[string]any
			for i := range sets {
				o := test.o
				o.Select.Include = []string{"**/*[02468]_*.jpg"}
				o.Shards, o.ExactPixels = 1, i == 1
				out := t.TempDir()
				mustImages(t, "../testdata/demo/photos", out, o)
				sets[i] = map[key]map[string]any{}
				for _, m := range examples(t, out, "train") {
					sets[i][key{string(m[imagekey.Filename].([][]byte)[0]), fmt.Sprint(m[imagekey.Copy])}] = m
				}
			}
			if len(sets[0]) < 10 || len(sets[0]) != len(sets[1]) {
				t.Fatalf("%d and %d records", len(sets[0]), len(sets[1]))
			}
			least, sum, differ := math.Inf(1), 0.0, 0
			for k, m := range sets[0] {
				exact := sets[1][k]
				for _, feature := range []string{imagekey.Width, imagekey.Height, imagekey.Channels, imagekey.Ops, imagekey.Format, imagekey.Colorspace} {
					if fmt.Sprint(m[feature]) != fmt.Sprint(exact[feature]) {
						t.Errorf("%v: %s is %v, with ExactPixels %v", k, feature, m[feature], exact[feature])
					}
				}
				a, b := pixelsOf(t, codec, m), pixelsOf(t, codec, exact)
				if len(a) != len(b) {
					t.Fatalf("%v: %d samples, with ExactPixels %d", k, len(a), len(b))
				}
				squares := 1e-3
				for i := range a {
					squares += (a[i] - b[i]) * (a[i] - b[i])
				}
				if squares > 1 {
					differ++
				}
				db := 10 * math.Log10(255*255*float64(len(a))/squares)
				least, sum = min(least, db), sum+min(db, 60)
			}
			t.Logf("%d pictures, at least %.1f dB, mean %.1f dB", len(sets[0]), least, sum/float64(len(sets[0])))
			if mean := sum / float64(len(sets[0])); least < 37 || mean < 42 {
				t.Errorf("at least %.1f dB, mean %.1f dB", least, mean)
			}
			if differ == 0 {
				t.Error("ExactPixels changed nothing")
			}
		})
	}
}

// TestExactPixelsIsForWhatChangesPixels: it is refused where it has no effect.
func TestExactPixelsIsForWhatChangesPixels(t *testing.T) {
	for _, test := range []struct {
		o    ImageOptions
		want bool
	}{
		{ImageOptions{ExactPixels: true}, false},
		{ImageOptions{ExactPixels: true, Encode: EncodeSpec{Format: Raw}}, false},
		{ImageOptions{ExactPixels: true, Resize: augment.ResizeSpec{Square: 8, NoAntialias: true}}, true},
		{ImageOptions{ExactPixels: true, Augment: AugmentSpec{Policy: policy(t, "hflip")}}, true},
	} {
		if _, err := Images(t.Context(), directories(t, 3), t.TempDir(), test.o); (err == nil) != test.want {
			t.Errorf("%+v: %v", test.o, err)
		}
	}
}
