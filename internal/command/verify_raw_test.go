package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
)

// A set of raw samples is sound, though other features share the image's prefix, and an image that
// is in it under two names is a duplicate.
func TestVerifyDeepOfRawImages(t *testing.T) {
	photos := t.TempDir()
	for i, name := range []string{"a", "b", "b again"} {
		im := augment.Image{Pix: make([]uint8, 3*9*7), Width: 9, Height: 7, Channels: 3, Stride: 27}
		for k := range im.Pix {
			im.Pix[k] = uint8(k * (1 + min(i, 1)))
		}
		png, err := augment.AppendPNG(nil, &im)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(photos, name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, encode := range []string{"raw", "float32"} {
		set := filepath.Join(t.TempDir(), "set")
		must(t, "convert", "images", photos, set, "--name", "d", "--unlabelled", "--encode", encode, "--quiet")
		out, _ := tfrec(t, "verify", "--deep", "--json", set).Output()
		if strings.Contains(string(out), "bytes, but the declared") || strings.Count(string(out), `"kind":"duplicate"`) != 1 {
			t.Errorf("%s: %s", encode, out)
		}
	}
}
