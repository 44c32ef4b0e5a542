package command

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
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
	findings := deepFindings(t, path, records)
	got := map[string]string{}
	for name := range want {
		got[name] = ""
	}
	for _, f := range findings {
		got[f.Key] = f.Kind + " " + f.Severity
		if strings.HasPrefix(want[f.Key], "unsupported") && !strings.Contains(f.Message, "tf.io.decode_image does not open a ") {
			t.Errorf("%s: %s", f.Key, f.Message)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// bmpOf returns a BMP of 24 bits a pixel.
func bmpOf(r *rand.Rand, w, h int) []byte {
	row := (3*w + 3) &^ 3
	b := make([]byte, 54+h*row)
	copy(b, "BM")
	le := binary.LittleEndian
	le.PutUint32(b[2:], uint32(len(b)))
	le.PutUint32(b[10:], 54)
	le.PutUint32(b[14:], 40)
	le.PutUint32(b[18:], uint32(w))
	le.PutUint32(b[22:], uint32(h))
	le.PutUint16(b[26:], 1)
	le.PutUint16(b[28:], 24)
	for i := 54; i < len(b); i++ {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestVerifyDeepOfBMPs: BMPs that nothing declares are checked, alone and among other images: whole
// ones are sound, cut ones are faults, and one with bytes after its pixels, which TensorFlow does not
// open, is unsupported, as TIFF is. adopt and inspect know them, too.
func TestVerifyDeepOfBMPs(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	jpeg, err := os.ReadFile(filepath.Join(filepath.Dir(demo()), "pictures", "made-ok-160x88.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	tiff := append([]byte("II*\x00\x08\x00\x00\x00"), make([]byte, 20)...)
	for trial := range 12 {
		dir := t.TempDir()
		want := map[string]string{}
		var records []byte
		add := func(name, kind string, image []byte) {
			want[name] = kind
			var b tfrecord.Builder
			b.Bytes("image/encoded", image)
			b.String("image/filename", name)
			records = tfrecord.AppendFrame(records, b.Append(nil))
		}
		for i := range 3 + trial%3 {
			add(fmt.Sprintf("whole%d.bmp", i), "", bmpOf(r, 1+r.IntN(30), 1+r.IntN(30)))
		}
		if trial%2 == 0 {
			cut := bmpOf(r, 2+r.IntN(30), 2+r.IntN(30))
			add("cut.bmp", "picture fault", cut[:30+r.IntN(len(cut)-33)]) // the padding may be missing
			add("longer.bmp", "unsupported warning", append(bmpOf(r, 7, 5), 1, 2, 3))
		}
		if trial%3 == 1 {
			for i := range 9 {
				add(fmt.Sprintf("%d.jpg", i), "", jpeg)
			}
			add("a.tif", "", tiff)
		}
		path := filepath.Join(dir, "x.tfrecord")
		findings := deepFindings(t, path, records)
		for _, f := range findings {
			if f.Kind == "duplicate" || f.Key == "a.tif" && f.Kind != "not_picture" {
				continue
			}
			if want[f.Key] != f.Kind+" "+f.Severity {
				t.Errorf("trial %d: %s: %s %s: %s", trial, f.Key, f.Kind, f.Severity, f.Message)
			}
			delete(want, f.Key)
		}
		for name, kind := range want {
			if kind != "" {
				t.Errorf("trial %d: %s: no %s", trial, name, kind)
			}
		}
		if trial%2 == 1 {
			must(t, "adopt", dir, "--quiet")
			m, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
			if err != nil {
				t.Fatal(err)
			}
			if isImage := strings.Contains(string(m), `"class": "image"`); isImage != (trial%3 != 1) {
				t.Errorf("trial %d: %s", trial, m)
			}
			if out, err := tfrec(t, "inspect", path).Output(); err != nil || !strings.Contains(string(out), "bmp") {
				t.Errorf("%v: %s", err, out)
			}
		}
	}
}

// deepFinding is a finding of verify --deep.
type deepFinding struct{ Kind, Severity, Key, Message string }

// deepFindings writes a file, and returns what verify --deep finds in it.
func deepFindings(t *testing.T, path string, data []byte) []deepFinding {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := tfrec(t, "verify", "--deep", "--json", path).Output()
	var report struct {
		Deep struct{ Findings []deepFinding }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	return report.Deep.Findings
}
