//go:build interop

package interop

import (
	"bytes"
	endian "encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/codec/png/pngtest"
)

const demo = "../../../testdata/demo"

// array is a value that TFDS yields: its elements in the written form, those
// of uint8 and uint16 all in one piece, the upper byte first.
type array struct {
	Shape  []int    `json:"shape"`
	DType  string   `json:"dtype"`
	Values []string `json:"values"`
}

// text is the value of a scalar string.
func (a array) text(t *testing.T) string {
	t.Helper()
	if a.DType != "string" || len(a.Values) != 1 {
		t.Fatalf("%+v is not a scalar string", a)
	}
	b, err := hex.DecodeString(a.Values[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// float32Of reads the digits of a float's bits.
func float32Of(t *testing.T, digits string) float32 {
	t.Helper()
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	return math.Float32frombits(uint32(n))
}

// dataset is what TFDS makes of a directory.
type dataset struct {
	Name       string
	Labels     map[string][]string
	Supervised []string
	Splits     map[string]struct {
		NumExamples  int   `json:"num_examples"`
		ShardLengths []int `json:"shard_lengths"`
		Counted      int
		Examples     []map[string]array
		Pairs        [][]array
	}
}

// summary is what convert says with --json.
type summary struct {
	Records int
	Splits  map[string]struct{ Records, Shards int }
}

// convert runs `tfrec convert` into a new directory.
func convert(t *testing.T, args ...string) (out string, s summary) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "out")
	args = append([]string{"convert", args[0], args[1], out, "--json", "--quiet"}, args[2:]...)
	c := exec.Command(*binary, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.Output()
	if err != nil {
		t.Fatalf("tfrec %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	if err := json.Unmarshal(stdout, &s); err != nil {
		t.Fatalf("tfrec %s: %v in %s", strings.Join(args, " "), err, stdout)
	}
	return out, s
}

// load wants TFDS to count what the summary says and returns what it reads.
func load(t *testing.T, out string, s summary, take int) dataset {
	t.Helper()
	var d dataset
	ask(t, &d, "tfds", map[string]any{"path": out, "take": take})
	if len(d.Splits) != len(s.Splits) {
		t.Errorf("TFDS finds %d splits of %d", len(d.Splits), len(s.Splits))
	}
	for name, want := range s.Splits {
		got := d.Splits[name]
		sum := 0
		for _, n := range got.ShardLengths {
			sum += n
		}
		if got.NumExamples != want.Records || got.Counted != want.Records || sum != want.Records || len(got.ShardLengths) != want.Shards {
			t.Errorf("split %s: TFDS says %d examples in shards of %v and reads %d; the summary says %d in %d shards",
				name, got.NumExamples, got.ShardLengths, got.Counted, want.Records, want.Shards)
		}
	}
	return d
}

// flowers are the demo's classes.
var flowers = []string{"daisy", "dandelion", "roses", "sunflowers", "tulips"}

func TestTFDSLoadsImages(t *testing.T) {
	photos := filepath.Join(demo, "photos")
	count, err := filepath.Glob(filepath.Join(photos, "*", "*.jpg"))
	if err != nil || len(count) == 0 {
		t.Fatalf("no photographs: %v", err)
	}
	for _, c := range []struct {
		name   string
		flags  []string
		labels []string
		// levels bounds the mean distance of an image from Pillow's, which a
		// reduced decode costs more of.
		levels                 float64
		width, height, quality int
	}{
		{"keep", nil, flowers, 1.5, 0, 0, 0},
		{"png", []string{"--encode", "png", "--resize", "96x64", "--exact-pixels"}, flowers, 1.5, 96, 64, 0},
		{"jpeg", []string{"--resize", "96x64", "--exact-pixels"}, flowers, 3, 96, 64, 95},
		{"raw", []string{"--encode", "raw", "--resize", "96x64", "--exact-pixels"}, flowers, 1.5, 96, 64, 0},
		{"reduced decode", []string{"--encode", "png", "--resize", "96x64"}, flowers, 8, 96, 64, 0},
		{"splits", []string{"--encode", "png", "--resize", "96x64", "--exact-pixels", "--splits", "train=0.6,val=0.2,test=0.2", "--shards", "2"}, flowers, 1.5, 96, 64, 0},
		{"label offset", []string{"--encode", "raw", "--resize", "96x64", "--exact-pixels", "--label-offset", "1"}, append([]string{"background"}, flowers...), 1.5, 96, 64, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, s := convert(t, append([]string{"images", photos}, c.flags...)...)
			d := load(t, out, s, 3)
			if s.Records != len(count) {
				t.Errorf("%d records of %d images", s.Records, len(count))
			}
			labels := d.Labels["image/class/label"]
			if diff := cmp.Diff(c.labels[len(c.labels)-len(flowers):], labels[len(labels)-len(flowers):]); diff != "" || len(labels) != len(c.labels) {
				t.Errorf("label names %q: %s", labels, diff)
			}
			for name, split := range d.Splits {
				if len(split.Examples) == 0 || len(split.Pairs) != len(split.Examples) {
					t.Fatalf("split %s: %d examples, %d supervised pairs", name, len(split.Examples), len(split.Pairs))
				}
				for i, e := range split.Examples {
					id, err := strconv.Atoi(e["image/class/label"].Values[0])
					if err != nil {
						t.Fatal(err)
					}
					if directory, _, _ := strings.Cut(e["image/filename"].text(t), "/"); labels[id] != directory || e["image/class/text"].text(t) != directory {
						t.Errorf("%s: label %d (%s), text %s", e["image/filename"].text(t), id, labels[id], e["image/class/text"].text(t))
					}
					if diff := cmp.Diff([]array{e["image/encoded"], e["image/class/label"]}, split.Pairs[i]); diff != "" {
						t.Errorf("as_supervised gives another pair:\n%.500s", diff)
					}
				}
			}
			var p struct {
				Worst float64
				Count int
			}
			ask(t, &p, "pictures", map[string]any{"path": out, "source": photos, "width": c.width, "height": c.height, "quality": c.quality})
			if p.Worst > c.levels || p.Count != len(count) {
				t.Errorf("%d images, up to %.2f levels from Pillow's; want %d within %.1f", p.Count, p.Worst, len(count), c.levels)
			}
			t.Logf("%d images within %.2f levels of Pillow's", p.Count, p.Worst)
		})
	}
}

// What keep cannot store as it is becomes PNG, and gray images read as RGB.
func TestTFDSLoadsImagesOfManyKinds(t *testing.T) {
	src := t.TempDir()
	for _, name := range []string{
		"made-gray.jpg", "go-video-005.gray.q50.2x2.progressive.jpeg", "go-video-001.rgb.jpeg", "go-video-001.interlaced.gif",
		"goimage-bmp_1bpp.bmp", "goimage-blue-purple-pink.lossless.webp", "made-cmyk-adobe.jpg",
	} {
		data, err := os.ReadFile(filepath.Join("../../../testdata/pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(src, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, encode := range []string{"keep", "png"} {
		out, s := convert(t, "images", src, "--unlabelled", "--encode", encode)
		load(t, out, s, 1)
		var p struct {
			Worst float64
			Count int
		}
		ask(t, &p, "pictures", map[string]any{"path": out, "source": src, "width": 0, "height": 0, "quality": 0})
		if p.Worst > 1 || p.Count != 7 {
			t.Errorf("%s: %d images, up to %.2f levels from Pillow's; want 7 within 1", encode, p.Count, p.Worst)
		}
	}
}

// float32 is raw, normalised: (v/255 - mean) / std.
func TestTFDSLoadsNormalisedImages(t *testing.T) {
	photos := filepath.Join(demo, "photos")
	shape := []string{"--resize", "40x30", "--limit", "10", "--seed", "5"}
	rawOut, rawSummary := convert(t, append([]string{"images", photos, "--encode", "raw"}, shape...)...)
	raw := load(t, rawOut, rawSummary, 10)
	out, s := convert(t, append([]string{"images", photos, "--encode", "float32", "--mean", "0.5,0.4,0.3", "--std", "0.2,0.25,0.3"}, shape...)...)
	d := load(t, out, s, 10)
	mean, std := []float64{0.5, 0.4, 0.3}, []float64{0.2, 0.25, 0.3}
	for i, e := range d.Splits["train"].Examples {
		from := raw.Splits["train"].Examples[i]
		if e["image/filename"].text(t) != from["image/filename"].text(t) {
			t.Fatal("the order differs between raw and float32")
		}
		pixels, err := hex.DecodeString(from["image/encoded"].Values[0])
		if err != nil {
			t.Fatal(err)
		}
		got := e["image/encoded"]
		if diff := cmp.Diff([]int{30, 40, 3}, got.Shape); diff != "" || got.DType != "float32" || len(got.Values) != len(pixels) {
			t.Fatalf("shape %v of %s", got.Shape, got.DType)
		}
		for k, p := range pixels {
			want := (float64(p)/255 - mean[k%3]) / std[k%3]
			if v := float64(float32Of(t, got.Values[k])); math.Abs(v-want) > 1e-5 {
				t.Fatalf("picture %d, value %d: %g, want %g of level %d", i, k, v, want, p)
			}
		}
	}
}

// readCSV returns the header and the rows of a table.
func readCSV(t *testing.T, path string) ([]string, [][]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[0], rows[1:]
}

// A column with missing values is a sequence of none or one.
func TestTFDSLoadsTables(t *testing.T) {
	table := filepath.Join(demo, "penguins.csv")
	header, rows := readCSV(t, table)
	out, s := convert(t, "csv", table, "--shards", "3")
	got := load(t, out, s, len(rows)).Splits["train"].Examples
	if len(got) != len(rows) {
		t.Fatalf("%d examples of %d rows", len(got), len(rows))
	}
	for i, row := range rows {
		for k, key := range header {
			v, ok := got[i][key]
			if !ok {
				t.Fatalf("no feature %s", key)
			}
			checkCell(t, fmt.Sprintf("row %d, %s", i+1, key), v, row[k])
		}
	}
}

func checkCell(t *testing.T, where string, v array, cell string) {
	t.Helper()
	if cell == "NA" {
		if diff := cmp.Diff([]int{0}, v.Shape); diff != "" {
			t.Errorf("%s: %+v for a missing value", where, v)
		}
		return
	}
	if len(v.Values) != 1 {
		t.Errorf("%s: %+v for %q", where, v, cell)
		return
	}
	switch v.DType {
	case "string":
		if b, err := hex.DecodeString(v.Values[0]); err != nil || string(b) != cell {
			t.Errorf("%s: %q, want %q", where, b, cell)
		}
	case "int64":
		if v.Values[0] != cell {
			t.Errorf("%s: %s, want %s", where, v.Values[0], cell)
		}
	case "float32":
		want, err := strconv.ParseFloat(cell, 32)
		if err != nil || float32(want) != float32Of(t, v.Values[0]) {
			t.Errorf("%s: %v, want %s", where, float32Of(t, v.Values[0]), cell)
		}
	default:
		t.Errorf("%s: dtype %s", where, v.DType)
	}
}

// Vectors, a label with its vocabulary, several splits, defaults for missing
// values.
func TestTFDSLoadsVectorsAndLabels(t *testing.T) {
	table := filepath.Join(demo, "penguins.csv")
	_, rows := readCSV(t, table)
	out, s := convert(t, "csv", table, "--na", "default", "--vector", "bill=bill_length_mm,bill_depth_mm",
		"--label", "species", "--vocab", "--splits", "train=0.8,val=0.2")
	d := load(t, out, s, len(rows))
	if diff := cmp.Diff(map[string][]string{"species": {"Adelie", "Chinstrap", "Gentoo"}}, d.Labels); diff != "" {
		t.Error(diff)
	}
	want := map[string]int{}
	for _, r := range rows {
		want[fmt.Sprint(r[0], bill(r[2]), bill(r[3]))]++
	}
	for _, split := range d.Splits {
		for _, e := range split.Examples {
			id, err := strconv.Atoi(e["species"].Values[0])
			if err != nil {
				t.Fatal(err)
			}
			v := e["bill"]
			if diff := cmp.Diff([]int{2}, v.Shape); diff != "" {
				t.Fatalf("bill has shape %v", v.Shape)
			}
			want[fmt.Sprint(d.Labels["species"][id], float32Of(t, v.Values[0]), float32Of(t, v.Values[1]))]--
		}
	}
	for row, n := range want {
		if n != 0 {
			t.Errorf("%s: %d times too few in the set", row, n)
		}
	}
}

// bill is a cell as a float, 0 where it is missing.
func bill(cell string) float32 {
	v, _ := strconv.ParseFloat(cell, 32)
	return float32(v)
}

// TestTFDSReadsDepth: TFDS reads all 16 bits of the images of a set if all of them have 16, and the
// upper 8 otherwise.
func TestTFDSReadsDepth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	src := t.TempDir()
	pixels := map[string][]byte{}
	put := func(name string, channels, depth int) {
		spec := pngtest.Spec{Width: 9, Height: 5, Depth: depth, Color: map[int]int{1: pngtest.Gray, 3: pngtest.RGB}[channels], Noisy: true}
		data := spec.Encode(r)
		m, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(src, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		for i := range spec.Width * spec.Height {
			red, green, blue, _ := m.At(i%spec.Width, i/spec.Width).RGBA()
			for _, v := range []uint32{red, green, blue} {
				pixels[name] = endian.BigEndian.AppendUint16(pixels[name], uint16(v))
			}
		}
	}
	check := func(dtype string) {
		t.Helper()
		out, _ := convert(t, "images", src, "--unlabelled")
		var d dataset
		ask(t, &d, "tfds", map[string]any{"path": out, "take": 10})
		examples := d.Splits["train"].Examples
		if len(examples) != len(pixels) {
			t.Fatalf("%d examples", len(examples))
		}
		for _, e := range examples {
			name := e["image/filename"].text(t)
			want := pixels[name]
			if dtype == "uint8" {
				want = nil
				for i := 0; i < len(pixels[name]); i += 2 {
					want = append(want, pixels[name][i])
				}
			}
			if got := e["image/encoded"]; got.DType != dtype || got.Values[0] != hex.EncodeToString(want) {
				t.Errorf("%s: %s %v, want %s %x", name, got.DType, got.Values, dtype, want)
			}
		}
	}
	put("gray.png", 1, 16)
	put("rgb.png", 3, 16)
	check("uint16")
	put("other.png", 3, 8)
	check("uint8")
}
