package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/tfrecord"
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

// TestVerifyDeepOfForeignImages: images that are intact, and that TensorFlow does not open, get a
// warning; damaged ones are faults.
func TestVerifyDeepOfForeignImages(t *testing.T) {
	want := map[string]string{
		"made-animated.webp": "unsupported warning", "made-cut-50.webp": "picture fault",
		"made-animated.gif": "", "pillow-transparent.webp": "", "made-ok-160x88.jpg": "", "pngsuite-basn2c16.png": "",
		"fuzz-webp-b82e0b20fb.webp": "picture fault", // a byte is missing
	}
	var records []byte
	for name := range want {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(demo()), "pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		var b tfrecord.Builder
		b.Bytes("image/encoded", data)
		b.String("image/filename", name)
		records = tfrecord.AppendFrame(records, b.Append(nil))
	}
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	if err := os.WriteFile(path, records, 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := tfrec(t, "verify", "--deep", "--json", path).Output()
	var report struct {
		Deep struct {
			Findings []struct{ Kind, Severity, Key, Message string }
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name := range want {
		got[name] = ""
	}
	for _, f := range report.Deep.Findings {
		got[f.Key] = f.Kind + " " + f.Severity
		if strings.HasPrefix(want[f.Key], "unsupported") && !strings.Contains(f.Message, "tf.io.decode_image does not open a ") {
			t.Errorf("%s: %s", f.Key, f.Message)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
