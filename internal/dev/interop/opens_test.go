//go:build interop

package interop

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// opener asks opens.py.
type opener func(t *testing.T, request, answer any)

// make is an image of a random kind that Pillow writes.
func (ask opener) make(t *testing.T, format augment.Format, seed uint32) []byte {
	var made struct{ File []byte }
	ask(t, map[string]any{"make": format, "seed": seed}, &made)
	return made.File
}

// errors says why TensorFlow does not open files, "" for those that it opens.
func (ask opener) errors(t *testing.T, files ...[]byte) []string {
	var answer struct{ Errors []string }
	ask(t, map[string]any{"files": files}, &answer)
	return answer.Errors
}

// pixels are those of files, upright and in RGB, as Pillow reads them.
func (ask opener) pixels(t *testing.T, files ...[]byte) [][]byte {
	var answer struct{ Pixels [][]byte }
	ask(t, map[string]any{"pixels": files}, &answer)
	return answer.Pixels
}

// TestWebPPixels: WebPs of all sizes have the pixels of libwebp, which Pillow, OpenCV and TensorFlow use.
func TestWebPPixels(t *testing.T) {
	ask := opener(startScript(t, *python, "opens.py"))
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var files [][]byte
	for _, seed := range torture.Seeds(150, 5000) {
		files = append(files, ask.make(t, augment.WebP, uint32(seed)))
	}
	for i, want := range ask.pixels(t, files...) {
		var im augment.Image
		if _, err := codec.Decode(&im, files[i], augment.DecodeOptions{Channels: 3}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(im.Pix, want) {
			path := filepath.Join(os.TempDir(), fmt.Sprintf("pixels-%d.webp", i))
			t.Errorf("%s, %dx%d, has other pixels: %v", path, im.Width, im.Height, os.WriteFile(path, files[i], 0o644))
		}
	}
}

// TestWholeImagesOpen: TensorFlow opens each image that is whole according to Codec.Check, by which
// `verify --deep` and `convert` judge, and of a kind that it opens, among images that are cut and
// changed at random. What TensorFlow opens and Check does not is counted.
func TestWholeImagesOpen(t *testing.T) {
	ask := opener(startScript(t, *python, "opens.py"))
	codec, err := augment.NewCodec(augment.CodecOptions{MaxPixels: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	formats := []augment.Format{augment.JPEG, augment.PNG, augment.GIF, augment.BMP, augment.WebP}
	pictures := map[augment.Format][][]byte{}
	paths, err := filepath.Glob("../../../testdata/pictures/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := codec.Check(data); err == nil && len(data) < 1<<15 {
			pictures[info.Format] = append(pictures[info.Format], data)
		}
	}
	other := opener(startScript(t, *python, "opens.py")) // which damaged images crash
	type tally struct{ Whole, Damaged, OpenToo int }     // OpenToo: damaged here, and opened by TensorFlow
	count := map[augment.Format]*tally{}
	const usual = 4
	for _, seed := range torture.Seeds(usual, 2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var files [][]byte
		for _, format := range formats {
			for range 6 {
				source := ask.make(t, format, r.Uint32())
				if r.IntN(3) == 0 {
					source = pictures[format][r.IntN(len(pictures[format]))]
				}
				if _, err := codec.Check(source); err != nil {
					t.Fatalf("seed %d: %s of Pillow: %v", seed, format, err)
				}
				files = append(files, source)
				for range 12 {
					files = append(files, mutated(r, source))
				}
			}
		}
		var whole, damaged [][]byte
		for _, data := range files {
			info, err := codec.Check(data)
			if count[info.Format] == nil {
				count[info.Format] = new(tally)
			}
			switch {
			case err != nil:
				damaged = append(damaged, data)
			case info.TensorFlow():
				whole = append(whole, data)
			}
		}
		for i, why := range ask.errors(t, whole...) {
			format := augment.Sniff(whole[i])
			if count[format].Whole++; why != "" {
				path := filepath.Join(os.TempDir(), fmt.Sprintf("opens-%d-%d.%s", seed, i, format))
				t.Errorf("%s is whole, and TensorFlow says %s: %v", path, why, os.WriteFile(path, whole[i], 0o644))
			}
		}
		if seed >= usual {
			continue
		}
		for i, why := range other.errors(t, damaged...) {
			n := count[augment.Sniff(damaged[i])]
			if n.Damaged++; why == "" {
				n.OpenToo++
			}
		}
	}
	for format, n := range count {
		t.Logf("%s: %+v", format, *n)
	}
}

// mutated cuts a file or changes some bits.
func mutated(r *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	switch r.IntN(4) {
	case 0:
		return data[:r.IntN(len(data))]
	case 1: // near the end, where decoders may need nothing more
		return data[:len(data)-1-r.IntN(min(len(data), 20))]
	}
	for range 1 + r.IntN(3) {
		i := r.IntN(len(data))
		if r.IntN(3) == 0 { // in a header
			i = r.IntN(min(len(data), 64))
		}
		data[i] ^= byte(1 << r.IntN(8))
	}
	return data
}
