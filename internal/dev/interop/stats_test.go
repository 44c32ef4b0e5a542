//go:build interop

package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// measured are numbers as `tfrec stats` reports them.
type measured struct {
	Count     int64
	Min, Max  float64
	Mean, Std float64
	Quantiles []struct{ Share, Value float64 }
	Histogram []struct{ Count int64 }
	Exact     bool
	Distinct  int64
	Top       []struct {
		Value json.Number
		Count int64
	}
	TopError int64 `json:"top_error"`
}

// measuredFeature is a feature of `tfrec stats --json`.
type measuredFeature struct {
	Key                   string
	Records               int64
	Missing               int64
	Int64, Float, Lengths *measured
	NaNs                  int64 `json:"nans"`
	Infinities            int64
	Texts                 *struct {
		Exact    bool
		Distinct int64
		Top      []struct {
			Value string
			Count int64
		}
		TopError int64 `json:"top_error"`
	}
	Pictures *struct {
		Pixels struct {
			Pictures  int64
			Sampled   bool
			Mean, Std [3]float64
		}
	}
}

// referenceStats are numbers as stats.py reports them.
type referenceStats struct {
	Count, NaNs, Infinities, Distinct int64
	Min, Max, Mean, Std               float64
	Quantiles                         []float64
	Ranks                             [][2]float64
	Histogram                         []int64
	Top                               [][2]any
}

type judgedFeature struct {
	Records               int64
	Int64, Float, Lengths *referenceStats
	Texts                 *struct {
		Distinct int64
		Top      [][2]any
	}
	Pixels *struct{ Mean, Std [3]float64 }
}

// near reports whether two numbers are the same but for rounding of sums.
func near(a, b, size float64) bool { return math.Abs(a-b) <= 1e-9*size }

// compareNumbers holds what tfrec says of numbers to what NumPy says: all that
// is counted exactly, the rest within the errors that tfrec states.
func compareNumbers(t *testing.T, name string, got *measured, want *referenceStats, rankError, distinctError float64) {
	t.Helper()
	if (got == nil) != (want == nil) {
		t.Errorf("%s: tfrec has %v, NumPy %v", name, got, want)
	}
	if got == nil || want == nil {
		return
	}
	size := max(math.Abs(want.Min), math.Abs(want.Max))
	if got.Count != want.Count || float32(got.Min) != float32(want.Min) || float32(got.Max) != float32(want.Max) ||
		!near(got.Mean, want.Mean, size) || !near(got.Std, want.Std, size) {
		t.Errorf("%s: %+v\nNumPy: %+v", name, got, want)
	}
	for i, q := range got.Quantiles {
		below, upTo := want.Ranks[i][0], want.Ranks[i][1]
		if got.Exact && q.Value != want.Quantiles[i] || below == upTo || below-rankError > q.Share || upTo+rankError < q.Share {
			t.Errorf("%s: quantile %v is %v, NumPy says %v, and that %v to %v are below", name, q.Share, q.Value, want.Quantiles[i], below, upTo)
		}
	}
	for i, b := range got.Histogram {
		if b.Count != want.Histogram[i] {
			t.Errorf("%s: %d in bucket %d, NumPy says %d", name, b.Count, i, want.Histogram[i])
		}
	}
	compareDistinct(t, name, got.Exact, got.Distinct, want.Distinct, distinctError)
	counts := map[string]int64{}
	for _, top := range want.Top {
		counts[top[0].(string)] = int64(top[1].(float64))
	}
	for _, top := range got.Top {
		n, frequent := counts[top.Value.String()]
		if !frequent {
			continue // NumPy lists twenty, and writes some floats otherwise
		}
		if top.Count > n || n > top.Count+got.TopError {
			t.Errorf("%s: %s came %d times, tfrec says %d and up to %d more", name, top.Value, n, top.Count, got.TopError)
		}
	}
}

// compareDistinct allows four standard errors.
func compareDistinct(t *testing.T, name string, exact bool, got, want int64, distinctError float64) {
	t.Helper()
	allowed := 4 * distinctError * float64(want)
	if exact {
		allowed = 0
	}
	if math.Abs(float64(got-want)) > allowed {
		t.Errorf("%s: %d distinct, NumPy says %d", name, got, want)
	}
}

// judgeStats compares `tfrec stats` of a path with NumPy's figures of the files.
func judgeStats(t *testing.T, path string, files ...string) map[string]measuredFeature {
	t.Helper()
	stdout, err := exec.Command(*binary, "stats", path, "--json", "--pixels", "all", "--quiet").Output()
	if err != nil {
		t.Fatalf("tfrec stats: %v", err)
	}
	var got struct {
		Records       int64
		Features      []measuredFeature
		RankError     float64 `json:"rank_error"`
		DistinctError float64 `json:"distinct_error"`
	}
	if err := json.Unmarshal(stdout, &got); err != nil {
		t.Fatal(err)
	}
	judge := exec.Command(*python, append([]string{"stats.py"}, files...)...)
	judge.Stdin, judge.Stderr = bytes.NewReader(stdout), os.Stderr
	if stdout, err = judge.Output(); err != nil {
		t.Fatalf("stats.py: %v", err)
	}
	var want struct {
		Records  int64
		Features map[string]judgedFeature
	}
	if err := json.Unmarshal(stdout, &want); err != nil {
		t.Fatal(err)
	}
	if got.Records != want.Records || len(got.Features) != len(want.Features) || got.RankError != 0.002 {
		t.Fatalf("%d records, %d features, error %v; NumPy has %d and %d", got.Records, len(got.Features), got.RankError, want.Records, len(want.Features))
	}
	features := map[string]measuredFeature{}
	for _, f := range got.Features {
		w := want.Features[f.Key]
		features[f.Key] = f
		if f.Records != w.Records || f.Missing != want.Records-w.Records {
			t.Errorf("%s: in %d records, missing in %d; NumPy: in %d of %d", f.Key, f.Records, f.Missing, w.Records, want.Records)
		}
		compareNumbers(t, f.Key, f.Int64, w.Int64, got.RankError, got.DistinctError)
		compareNumbers(t, f.Key, f.Float, w.Float, got.RankError, got.DistinctError)
		compareNumbers(t, f.Key+" lengths", f.Lengths, w.Lengths, got.RankError, got.DistinctError)
		if w.Float != nil && (f.NaNs != w.Float.NaNs || f.Infinities != w.Float.Infinities) {
			t.Errorf("%s: %d NaNs and %d infinite, NumPy says %d and %d", f.Key, f.NaNs, f.Infinities, w.Float.NaNs, w.Float.Infinities)
		}
		if w.Texts != nil {
			compareDistinct(t, f.Key, f.Texts.Exact, f.Texts.Distinct, w.Texts.Distinct, got.DistinctError)
		}
	}
	if p := want.Features["image/encoded"].Pixels; p != nil {
		ours := features["image/encoded"].Pictures.Pixels
		for c := range p.Mean {
			if math.Abs(ours.Mean[c]-p.Mean[c]) > 1e-9 || math.Abs(ours.Std[c]-p.Std[c]) > 1e-9 {
				t.Errorf("channel %d: mean %v, std %v; NumPy says %v, %v", c, ours.Mean[c], ours.Std[c], p.Mean[c], p.Std[c])
			}
		}
	}
	return features
}

func TestStatsAreNumPys(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	var records [][]byte
	for i := range 30_000 {
		var b tfrecord.Builder
		b.Float("normal", float32(rnd.NormFloat64()))
		b.Float("offset", float32(1e6+rnd.NormFloat64()))
		b.Float("lognormal", float32(math.Exp(6*rnd.NormFloat64())))
		b.Float("vector", float32(rnd.IntN(9)), float32(rnd.NormFloat64()), float32(i))
		b.Int64("dice", 1+rnd.Int64N(6))
		b.Float("cauchy", float32(math.Tan(math.Pi*(rnd.Float64()-0.5))))
		b.Float("negative", float32(-rnd.ExpFloat64()))
		b.Float("constant", 0.1)
		b.Float("tenths", float32(130+rnd.IntN(90))/10)
		b.Float("mixture", []float32{0, -3, float32(1000 + rnd.NormFloat64())}[rnd.IntN(3)])
		b.Int64("uniform", int64(i))
		b.Int64("seconds", 1_735_689_600+rnd.Int64N(365*86400))
		b.Int64("nanoseconds", 1_735_689_600_000_000_000+rnd.Int64N(1e16))
		b.Int64("hours", rnd.Int64N(24))
		b.Int64("wide", rnd.Int64()-rnd.Int64())
		b.Int64("zipf", int64(math.Min(1e15, math.Pow(rnd.Float64(), -2))))
		b.String("name", fmt.Sprint("name ", i))
		b.String("word", fmt.Sprint("word ", rnd.IntN(5)))
		switch rnd.IntN(10) {
		case 0:
			b.Float("odd", float32(math.NaN()), 1)
		case 1:
			b.Float("odd", float32(math.Inf(1)), float32(math.Inf(-1)))
		case 2:
			b.Int64("sometimes", int64(i))
		}
		records = append(records, b.Append(nil))
	}
	path := writeFile(t, tfrecord.CompressionNone, records)
	features := judgeStats(t, path, path)
	if f := features["normal"].Float; f.Exact || len(f.Quantiles) != 7 {
		t.Errorf("normal: %+v", f)
	}
	if f := features["dice"].Int64; !f.Exact || len(f.Top) != 6 {
		t.Errorf("dice: %+v", f)
	}
}

// TestTableStatsAreNumPys takes real tables: those of the demo and, where they
// are next to the checkout, the larger shared ones.
func TestTableStatsAreNumPys(t *testing.T) {
	tables, _ := filepath.Glob(demo + "/*.csv")
	shared, _ := filepath.Glob("../../../../shared/data/csv/*.csv")
	if len(tables) == 0 {
		t.Fatal("no tables in", demo)
	}
	for _, table := range slices.Concat(tables, shared) {
		t.Run(filepath.Base(table), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			c := exec.Command(*binary, "convert", "csv", table, out, "--name", "t", "--shards", "3", "--quiet")
			if says, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, says)
			}
			files, err := filepath.Glob(filepath.Join(out, "*.tfrecord*"))
			if err != nil {
				t.Fatal(err)
			}
			judgeStats(t, out, files...)
		})
	}
}

func TestPixelStatsAreNumPys(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	c := exec.Command(*binary, "convert", "images", "../../../testdata/demo/photos", out, "--name", "v", "--encode", "png", "--shards", "3", "--quiet")
	if says, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, says)
	}
	files, err := filepath.Glob(filepath.Join(out, "*.tfrecord*"))
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	features := judgeStats(t, out, files...)
	if p := features["image/encoded"].Pictures.Pixels; p.Sampled || p.Pictures != 40 {
		t.Errorf("%+v", p)
	}
}
