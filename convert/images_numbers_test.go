package convert

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// numbered is a source of images with a number each, for the feature s, and the options to convert it.
type numbered struct {
	name string
	make func(t *testing.T, dir string, numbers []string) (src string, o ImageOptions)
}

// numberSources are all kinds of sources of which ImageOptions.Features are stored.
func numberSources() []numbered {
	table := func(name, header, row string) numbered {
		return numbered{name, func(t *testing.T, dir string, numbers []string) (string, ImageOptions) {
			text := header
			for i, number := range numbers {
				text += strings.NewReplacer("I", strconv.Itoa(i), "NUMBER", number).Replace(row) + "\n"
			}
			put(t, dir, name, []byte(text))
			return flatImages(t, dir, len(numbers)), ImageOptions{Labels: LabelSpec{File: filepath.Join(dir, name), None: true}}
		}}
	}
	return []numbered{
		table("t.csv", "path,s\n", "I.png,NUMBER"),
		table("t.jsonl", "", `{"path": "I.png", "s": NUMBER}`),
		{"web.tar", func(t *testing.T, dir string, numbers []string) (string, ImageOptions) {
			files := map[string]string{}
			for i, number := range numbers {
				files[fmt.Sprintf("%d.png", i)], files[fmt.Sprintf("%d.json", i)] = string(pngOf(i)), `{"s": `+number+`}`
			}
			src := filepath.Join(dir, "web.tar")
			packFiles(t, src, 1, files)
			return src, ImageOptions{Labels: LabelSpec{None: true}}
		}},
		{"x.parquet", func(t *testing.T, dir string, numbers []string) (string, ImageOptions) {
			type row struct {
				Image imageCell `parquet:"image"`
				S     float64   `parquet:"s"`
			}
			var rows []row
			for i, number := range numbers {
				path := fmt.Sprintf("%d.png", i)
				x, _ := strconv.ParseFloat(number, 64)
				rows = append(rows, row{imageCell{pngOf(i), &path}, x})
			}
			src := filepath.Join(dir, "x.parquet")
			writeParquet(t, src, rows)
			return src, ImageOptions{Labels: LabelSpec{None: true}}
		}},
	}
}

// TestNumbersOfFeatures: a number beyond the range of a float is a line of the ledger, and a feature
// whose digits get lost is in the account, whatever states it.
func TestNumbersOfFeatures(t *testing.T) {
	kinds := [][]string{
		{"0.5", "-1", "16777216", "0.1", "1e30", "12345.5"}, // stay
		{"0.123456789", "16777217.5", "-3.14159265358979"},
		{"1e300", "-3.5e38", "1e39"},
	}
	for _, seed := range torture.Seeds(4, 100) {
		for _, s := range numberSources() {
			r := rand.New(rand.NewPCG(seed, 11))
			numbers, beyond, rounded := []string{"2.5"}, 0, false
			for range 3 + r.IntN(6) {
				kind := r.IntN(len(kinds))
				if seed%2 == 0 && kind == 1 {
					kind = 0
				}
				if kind == 2 {
					beyond++
				}
				rounded = rounded || kind == 1
				numbers = append(numbers, kinds[kind][r.IntN(len(kinds[kind]))])
			}
			dir, out := t.TempDir(), t.TempDir()
			src, o := s.make(t, dir, numbers)
			o.Features, o.MaxErrors = []FeatureSpec{{Name: "s"}}, Tolerance{Count: int64(len(numbers))}
			if r.IntN(2) == 0 {
				o.Features[0].Type = TypeFloat
			}
			sum := mustImages(t, src, out, o)
			if sum.Errors != int64(beyond) {
				t.Errorf("seed %d: %s of %q: %d errors, want %d", seed, s.name, numbers, sum.Errors, beyond)
			}
			for _, line := range ledger(t, out) {
				if !strings.Contains(line, "is outside of the range of a 32-bit float") {
					t.Errorf("seed %d: %s: %s", seed, s.name, line)
				}
			}
			got := records(t, out, "train")
			for i, number := range numbers {
				x, err := strconv.ParseFloat(number, 32)
				record := got[fmt.Sprintf("%d.png", i)]
				if err != nil && record != nil || err == nil && (record == nil || !slices.Equal(record["s"].([]float32), []float32{float32(x)})) {
					t.Errorf("seed %d: %s: %s is %v", seed, s.name, number, record["s"])
				}
			}
			accounted := slices.ContainsFunc(sum.LeftOut, func(l LeftOut) bool {
				return (l.Reason == "rounded" || l.Reason == "float64") && l.Count == 1 && strings.HasPrefix(l.Names[0], "s")
			})
			if accounted != rounded && s.name != "x.parquet" || !accounted && s.name == "x.parquet" {
				t.Errorf("seed %d: %s of %q: account %+v", seed, s.name, numbers, sum.LeftOut)
			}
		}
	}
}

// TestNumbersBeyondFloatsName the option of images that keeps them.
func TestNumbersBeyondFloatsName(t *testing.T) {
	s := numberSources()[0]
	src, o := s.make(t, t.TempDir(), []string{"1", "1e300", "1e-60"})
	o.Features, o.MaxErrors = []FeatureSpec{{Name: "s", Type: TypeFloat}}, Tolerance{Count: 1}
	sum := mustImages(t, src, t.TempDir(), o)
	i := slices.IndexFunc(sum.LeftOut, func(l LeftOut) bool { return l.Reason == "beyond_float" })
	if i < 0 || !strings.Contains(sum.LeftOut[i].Names[0], `s (2 values, the first at `) || !strings.Contains(sum.LeftOut[i].Names[0], "; ImageOptions.Features s:bytes keeps them)") {
		t.Errorf("%+v", sum.LeftOut)
	}
}
