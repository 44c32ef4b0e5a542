//go:build interop

package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/png/pngtest"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/tfrecord"
)

// reading is what a program makes of a split: the number of records, and the
// sum of each feature's numbers, bytes or pixels.
type reading struct {
	Records int
	Sums    map[string]float64
}

// ours returns the same by this module, the files decompressed by it, too. What
// a record lacks of the numbers in absent counts as that.
func ours(t *testing.T, files []string, absent map[string]float64) reading {
	t.Helper()
	r := reading{Sums: map[string]float64{}}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		records := tfrecord.NewReader(f, tfrecord.ReaderOptions{})
		defer records.Close()
		for data, err := range records.All() {
			if err != nil {
				t.Fatal(err)
			}
			r.Records++
			r.add(t, data, absent)
		}
	}
	return r
}

func (r *reading) add(t *testing.T, data []byte, absent map[string]float64) {
	t.Helper()
	var s tfrecord.SequenceExample
	var e tfrecord.Example
	features := &e.Features
	if err := s.Parse(data); err == nil && s.Lists.Len() > 0 {
		features = &s.Context
		for key, steps := range s.Lists.Map() {
			for _, v := range steps {
				r.Sums[key] += sum(t, v)
			}
		}
	} else if err := e.Parse(data); err != nil {
		t.Fatal(err)
	}
	for key, v := range features.Map() {
		r.Sums[key] += sum(t, v)
	}
	for key, value := range absent {
		if _, ok := features.Get(key); !ok {
			r.Sums[key] += value
		}
	}
}

// sum is that of numbers but NaN, of an image's pixels, or of bytes.
func sum(t *testing.T, value any) (n float64) {
	t.Helper()
	switch value := value.(type) {
	case []int64:
		for _, x := range value {
			n += float64(x)
		}
	case []float32:
		for _, x := range value {
			if x == x {
				n += float64(x)
			}
		}
	case [][]byte:
		for _, x := range value {
			n += sumBytes(t, x)
		}
	}
	return n
}

func sumBytes(t *testing.T, data []byte) (n float64) {
	t.Helper()
	if jpeg.IsJPEG(data) {
		data = decodeJPEG(t, data)
	} else if m, err := png.Decode(bytes.NewReader(data)); err == nil {
		rgba := image.NewNRGBA(m.Bounds())
		draw.Draw(rgba, m.Bounds(), m, m.Bounds().Min, draw.Src)
		n -= 255 * float64(len(rgba.Pix)/4)
		data = rgba.Pix
	}
	for _, x := range data {
		n += float64(x)
	}
	return n
}

func decodeJPEG(t *testing.T, data []byte) []byte {
	t.Helper()
	h, err := jpeg.ParseHeader(data)
	if err != nil {
		t.Fatal(err)
	}
	set, err := jpeg.Open(jpeg.Auto)
	if err != nil {
		t.Fatal(err)
	}
	w, ht := h.Scaled(1)
	pix := make([]byte, w*ht*3)
	if err := set.Decode(pix, w*3, data, &h, jpeg.Request{Format: jpeg.RGB, Denom: 1}); err != nil {
		t.Fatal(err)
	}
	return pix
}

// emit writes the program for a target to a file.
func emit(t *testing.T, target, set, path string) []byte {
	t.Helper()
	program := output(t, exec.Command(*binary, "inspect", set, "--emit", target, "--quiet"))
	if err := os.WriteFile(path, program, 0o644); err != nil {
		t.Fatal(err)
	}
	return program
}

// emittedSet is a set that programs read.
type emittedSet struct {
	dir     string
	splits  map[string][]string // files
	absent  map[string]float64  // what programs with defaults make of missing numbers
	sizes   bool                // images are JPEGs of several sizes
	targets []string
}

// directory is the directory of the set's files.
func (s *emittedSet) directory() string {
	for _, files := range s.splits {
		return filepath.Dir(files[0])
	}
	return ""
}

// sameSums compares what a program read with what we did.
func sameSums(t *testing.T, name string, set emittedSet, got map[string]reading, defaults bool) {
	t.Helper()
	if len(got) != len(set.splits) {
		t.Errorf("%s: %d splits, want %d", name, len(got), len(set.splits))
	}
	for split, files := range set.splits {
		absent := set.absent
		if !defaults {
			absent = nil
		}
		want := ours(t, files, absent)
		if _, ok := got[split].Sums["boxes"]; ok { // of which programs in Python make one tensor
			for _, axis := range objects.Axes {
				want.Sums["boxes"] += want.Sums[axis.Min] + want.Sums[axis.Max]
				delete(want.Sums, axis.Min)
				delete(want.Sums, axis.Max)
			}
		}
		if got[split].Records != want.Records || len(got[split].Sums) != len(want.Sums) {
			t.Errorf("%s: split %s: %d records of %d features, want %d of %d", name, split, got[split].Records, len(got[split].Sums), want.Records, len(want.Sums))
		}
		for _, key := range slices.Sorted(maps.Keys(want.Sums)) {
			allowed := 1e-6 * math.Abs(want.Sums[key])
			if key == "image/encoded" && set.sizes && !defaults { // TFDS has libjpeg round more coarsely
				allowed = 0.01 * want.Sums[key]
			}
			if x, ok := got[split].Sums[key]; !ok || math.Abs(x-want.Sums[key]) > allowed {
				t.Errorf("%s: split %s: %q: sum %v, want %v", name, split, key, x, want.Sums[key])
			}
		}
	}
}

// torchPython returns a Python that has PyTorch; it is a system's rather than
// one of ours, for what PyPI has of it is mostly CUDA.
func torchPython(t *testing.T) string {
	t.Helper()
	for _, p := range []string{*python, "/usr/bin/python3", "python3"} {
		if exec.Command(p, "-c", "import torch, numpy, PIL").Run() == nil {
			return p
		}
	}
	t.Skip("no Python with torch, numpy and PIL (on Debian: apt-get install python3-torch python3-pil)")
	return ""
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v %v", pattern, files, err)
	}
	return files
}

// oddNames are keys of features that would be code if they were pasted.
var oddNames = []string{`"""`, `"); raise SystemExit("`, "a\nb", "\u2028", "nul\x00 inside", `\`, "%s{x}", "class", "a/b", "a b", "日本", "`"}

func emittedSets(t *testing.T) map[string]emittedSet {
	all := []string{"tf", "tfds", "torch", "go"}
	photos := filepath.Join(demo, "photos")
	sets := map[string]emittedSet{}

	out, _ := convert(t, "images", photos, "--name", "v", "--resize", "24x32", "--encode", "png", "--shards", "2", "--splits", "train=0.8,val=0.2")
	sets["png"] = emittedSet{dir: out, targets: all, splits: map[string][]string{
		"train": glob(t, out+"/v-train.*"), "val": glob(t, out+"/v-val.*"),
	}}
	out, _ = convert(t, "images", photos, "--name", "v", "--limit", "9", "--compression", "gzip", "--shards", "2")
	sets["photographs"] = emittedSet{dir: out, targets: all, sizes: true, splits: map[string][]string{"train": glob(t, out+"/v-train.*")}}
	deep := t.TempDir()
	for i := range 9 {
		spec := pngtest.Spec{Width: 10, Height: 12, Depth: 16, Color: []int{pngtest.Gray, pngtest.RGB}[i%2]}
		if err := os.WriteFile(filepath.Join(deep, fmt.Sprintf("%d.png", i)), spec.Encode(rand.New(rand.NewPCG(1, uint64(i)))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, _ = convert(t, "images", deep, "--name", "v", "--unlabelled")
	sets["16 bits"] = emittedSet{dir: out, targets: []string{"tf", "torch", "go"}, splits: map[string][]string{"train": glob(t, out+"/v-train.*")}}
	out, _ = convert(t, "images", photos, "--name", "v", "--limit", "20", "--resize", "9x7", "--encode", "raw")
	sets["raw"] = emittedSet{dir: out, targets: all, splits: map[string][]string{"train": glob(t, out+"/v-train.*")}}
	out, _ = convert(t, "csv", filepath.Join(demo, "penguins.csv"), "--name", "p", "--compression", "zlib", "--shards", "3")
	sets["table"] = emittedSet{dir: out, targets: all, splits: map[string][]string{"train": glob(t, out+"/p-train.*")},
		absent: map[string]float64{"body_mass_g": -1, "flipper_length_mm": -1}}

	dir := t.TempDir()
	odd := map[string][]string{"all": {filepath.Join(dir, `"%s{x}[*]'.tfrecord`)}}
	var data []byte
	for i := range 40 {
		var b tfrecord.Builder
		for k, key := range oddNames {
			switch k % 4 {
			case 0:
				b.Int64(key, make([]int64, i%5)...)
			case 1:
				b.Float(key, float32(i), -1.5)
			case 2:
				b.String(key, oddNames[:i%3]...)
			default:
				b.Int64(key, int64(i)*int64(i)<<40-7)
			}
		}
		if i%2 == 0 {
			b.Int64("even", math.MaxInt64>>20-int64(i))
			b.Float("half", 0.5)
			b.String("words", "two", "words")
		}
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	if err := os.WriteFile(odd["all"][0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	sets["odd names"] = emittedSet{dir: dir, splits: odd, targets: all, absent: map[string]float64{"even": -1}}

	dir = t.TempDir()
	drawn := filepath.Join(dir, "o-train.tfrecord-00000-of-00001")
	data = nil
	for i := range 40 {
		var b tfrecord.Builder
		im := image.NewNRGBA(image.Rect(0, 0, 12, 10))
		for k := range im.Pix {
			im.Pix[k] = byte(i*k) | byte(255*(k%4/3))
		}
		b.Bytes("image/encoded", testpng.Encode(im))
		b.Int64("image/height", 10)
		b.Int64("image/width", 12)
		n := i % 4
		for k, axis := range objects.Axes {
			b.Float(axis.Min, []float32{0, 0.25, 0.125 * float32(k)}[:n]...)
			b.Float(axis.Max, []float32{1, 0.5, 0.75}[:n]...)
		}
		b.Int64(objects.KeyLabel, []int64{90, 3, 18}[:n]...)
		b.String(objects.KeyText, []string{"cat", "dog", "cow"}[:n]...)
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	if err := os.WriteFile(drawn, data, 0o644); err != nil {
		t.Fatal(err)
	}
	sets["objects"] = emittedSet{dir: dir, splits: map[string][]string{"train": {drawn}}, targets: all}

	for name, set := range map[string]struct {
		file    string
		targets []string
	}{
		"sequences": {"torchdata-sequence_example.tfrecord", []string{"tf", "go"}},
		// It has keys that are features of the context, and lists.
		"packed sequences": {"tft-sequence-data_tfrecord.gz", []string{"tf"}},
	} {
		path, err := filepath.Abs(filepath.Join("../../../testdata/tfrecords", set.file))
		if err != nil {
			t.Fatal(err)
		}
		sets[name] = emittedSet{dir: path, splits: map[string][]string{"all": {path}}, targets: set.targets}
	}
	return sets
}

// TestEmittedProgramsRead runs each program on the set that it was written for,
// and wants it to read what we do.
func TestEmittedProgramsRead(t *testing.T) {
	sets := emittedSets(t)
	names := slices.Sorted(maps.Keys(sets))
	t.Run("tensorflow", func(t *testing.T) { runEmittedPython(t, *python, sets, names, "tf", "tfds") })
	t.Run("torch", func(t *testing.T) { runEmittedPython(t, torchPython(t), sets, names, "torch") })
	t.Run("go", func(t *testing.T) { runEmittedGo(t, sets, names) })
}

// runEmittedPython has one process read with all programs for some targets: to
// import TensorFlow takes longer.
func runEmittedPython(t *testing.T, interpreter string, sets map[string]emittedSet, names []string, targets ...string) {
	c := exec.Command(interpreter, "emitted.py")
	var asked [][2]string
	for _, name := range names {
		for _, target := range targets {
			if set := sets[name]; slices.Contains(set.targets, target) {
				path := filepath.Join(t.TempDir(), "program.py")
				emit(t, target, set.dir, path)
				c.Args = append(c.Args, target, path, set.directory())
				asked = append(asked, [2]string{name, target})
			}
		}
	}
	answers := json.NewDecoder(bytes.NewReader(output(t, c)))
	for _, a := range asked {
		var got map[string]reading
		if err := answers.Decode(&got); err != nil {
			t.Fatal(err)
		}
		sameSums(t, a[0]+" by "+a[1], sets[a[0]], got, a[1] != "tfds")
	}
}

// output runs a command and returns what it prints.
func output(t *testing.T, c *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", c, err, out, stderr.Bytes())
	}
	return out
}
