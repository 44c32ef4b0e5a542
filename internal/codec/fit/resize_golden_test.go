package fit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/resample"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

func TestResizeGoldens(t *testing.T) {
	const dir = "../../../testdata/resize"
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Judge     string
		From      [3]int
		Method    string
		Antialias bool
		File      string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	noise := imagetest.ReadArray(t, filepath.Join(dir, "resize_noise_in.npy"))
	references := map[string]int{}
	for _, c := range cases {
		references[c.Judge]++
		t.Run(strings.TrimSuffix(c.File, ".npy"), func(t *testing.T) {
			want := imagetest.ReadArray(t, filepath.Join(dir, c.File))
			tolerance := 0
			if c.Judge == "tensorflow" {
				tolerance = tensorflowTolerance(c.Method, c.Antialias)
			}
			checkGolden(t, noise.Part(c.From[0], c.From[1], c.From[2]), want, c.Method, c.Antialias, tolerance)
		})
	}
	if references["pillow"] < 60 || references["tensorflow"] < 11 {
		t.Errorf("only so many goldens: %v", references)
	}
}

// TestResizeAllGoldens compares with all goldens if they are next to the checkout.
func TestResizeAllGoldens(t *testing.T) {
	const dir = "../../../../shared/goldens"
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Skip("no goldens beside the checkout")
	}
	var manifest struct {
		Resize []struct {
			Input, Method, File string
			Antialias           bool
		}
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Resize) == 0 {
		t.Error("no goldens in the manifest")
	}
	for _, c := range manifest.Resize {
		t.Run(strings.TrimSuffix(c.File, ".npy"), func(t *testing.T) {
			in := imagetest.ReadArray(t, filepath.Join(dir, c.Input))
			checkGolden(t, in.Part(in.Shape[0], in.Shape[1], 3), imagetest.ReadArray(t, filepath.Join(dir, c.File)),
				c.Method, c.Antialias, tensorflowTolerance(c.Method, c.Antialias))
		})
	}
}

// tensorflowTolerance is how many levels a sample may differ from TensorFlow's
// float, rounded.
func tensorflowTolerance(method string, antialias bool) int {
	switch {
	case method == "nearest":
		return 0
	case antialias && method == "bicubic":
		return 24 // Pillow clips the overshoot between its passes
	case antialias && method == "lanczos3":
		return 40
	}
	return 1
}

func checkGolden(t *testing.T, src *bitmap.Image, want imagetest.Array, method string, antialias bool, tolerance int) {
	t.Helper()
	f, err := resample.ParseFilter(method)
	if err != nil {
		t.Fatal(err)
	}
	var got bitmap.Image
	if err := Resize(&got, src, want.Shape[1], want.Shape[0], f, antialias); err != nil {
		t.Fatal(err)
	}
	over := 0
	for levels, n := range want.Off(&got) {
		if levels > tolerance {
			t.Errorf("%d of %d samples are off by %d levels, of %d allowed", n, len(got.Pix), levels, tolerance)
		}
		if levels > 1 {
			over += n
		}
	}
	if over > len(got.Pix)/20 {
		t.Errorf("%d of %d samples are off by more than one level", over, len(got.Pix))
	}
}
