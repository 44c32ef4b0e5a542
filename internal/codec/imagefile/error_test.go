package imagefile

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/sniff"
)

// TestErrorsSayThingsOnce damages images at random and wants no error such as
// "png: png: invalid format".
func TestErrorsSayThingsOnce(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/pictures/*")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	c, err := NewCodec(CodecOptions{Decoder: "go", MaxPixels: 1 << 18})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	said := map[sniff.Format]bool{}
	for _, file := range files {
		whole, err := os.ReadFile(file)
		if err != nil || len(whole) > 1<<18 || len(whole) < 8 {
			continue
		}
		for range 8 {
			data := slices.Clone(whole[:len(whole)-rng.IntN(len(whole)/2)])
			for range rng.IntN(4) {
				data[rng.IntN(len(data))] ^= byte(1 + rng.IntN(255))
			}
			var im bitmap.Image
			if _, err = c.Decode(&im, data, DecodeOptions{}); err == nil {
				continue
			}
			said[sniff.Sniff(data)] = true
			parts := strings.Split(err.Error(), ": ")
			if once := slices.Compact(slices.Clone(parts)); len(once) != len(parts) {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, f := range []sniff.Format{sniff.JPEG, sniff.PNG, sniff.GIF, sniff.BMP, sniff.WebP, sniff.TIFF} {
		if !said[f] {
			t.Errorf("no %s was damaged so that it did not decode", f)
		}
	}
}
