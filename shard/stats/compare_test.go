package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/tfrecord"
)

// measureExamples measures n Examples.
func measureExamples(t *testing.T, n int, build func(i int, b *tfrecord.Builder)) *Report {
	t.Helper()
	var examples []func(b *tfrecord.Builder)
	for i := range n {
		examples = append(examples, func(b *tfrecord.Builder) { build(i, b) })
	}
	path := writeExamples(t, filepath.Join(t.TempDir(), "x.tfrecord"), examples...)
	return measureFiles(t, Options{Header: fakeHeader, Pixels: fakePixels}, path)
}

func TestCompare(t *testing.T) {
	a := measureExamples(t, 100, func(i int, b *tfrecord.Builder) {
		b.Int64("same", int64(i))
		b.Int64("shifted", int64(i))
		b.Int64("only a", 1)
		b.Int64("kind", 1)
		b.Int64("label", int64(i%4))
		b.String("word", []string{"cat", "dog"}[i%2])
		b.String("name", fmt.Sprint("a", i))
		b.Float("sometimes", 1)
		b.Bytes("picture", fakeImage(51, 3))
	})
	b := measureExamples(t, 200, func(i int, b *tfrecord.Builder) {
		b.Int64("same", int64(i/2))
		b.Int64("shifted", int64(i/2)+25)
		b.Int64("only b", 1)
		b.Float("kind", 1)
		b.Int64("label", int64(i%2))
		b.String("word", []string{"cat", "dog", "cat", "cat"}[i%4])
		b.String("name", fmt.Sprint("b", i))
		if i%10 == 0 {
			b.Float("sometimes", 1)
		}
		b.Bytes("picture", fakeImage(102, 3))
	})
	d := Compare(a, b)
	got := map[string]string{}
	last := 1.0
	for _, f := range d.Features {
		got[f.Key] = fmt.Sprintf("%s %.3f", f.In, f.Score)
		if f.Score > last {
			t.Errorf("%s comes behind less", f.Key)
		}
		last = f.Score
	}
	want := map[string]string{
		"same": "both 0.000", "shifted": "both 0.250", "only a": "a 1.000", "only b": "b 1.000", "kind": "both 1.000",
		"label": "both 0.500", "word": "both 0.250", "name": "both 0.500", "sometimes": "both 0.900", "picture": "both 1.000",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, f := range d.Features {
		switch f.Key {
		case "shifted":
			if n := f.Int64; n.Shift != 25/n.Std[0] || math.Abs(n.KS-0.25) > 1e-12 || n.Median != [2]float64{49, 74} || n.PSI < 1 {
				t.Errorf("shifted: %+v", n)
			}
		case "same":
			if n := f.Int64; n.KS != 0 || n.PSI > 1e-9 || n.Mean[0] != n.Mean[1] {
				t.Errorf("same: %+v", n)
			}
		case "name":
			if f.Values != nil {
				t.Errorf("names that come once are compared: %v", *f.Values)
			}
		case "picture":
			if p := f.Pixels; math.Abs(p.Mean[0][0]-0.2) > 1e-12 || math.Abs(p.Mean[1][0]-0.4) > 1e-12 {
				t.Errorf("pixels: %+v", p)
			}
		}
	}
	id := func(n int64) *int64 { return &n }
	labels := []LabelDrift{{Key: "label", Distance: 0.5, Shares: []LabelShares{
		{ID: id(0), Shares: [2]float64{0.25, 0.5}}, {ID: id(1), Shares: [2]float64{0.25, 0.5}},
		{ID: id(2), Shares: [2]float64{0.25, 0}}, {ID: id(3), Shares: [2]float64{0.25, 0}},
	}}}
	if diff := cmp.Diff(labels, d.Labels); diff != "" {
		t.Error(diff)
	}
}

// TestCompareSketches: for many numbers the distances are close to those of the distributions they
// were drawn from.
func TestCompareSketches(t *testing.T) {
	draw := func(seed uint64, n int, mean float64) *Numbers {
		rnd := rand.New(rand.NewPCG(seed, 9))
		s := &spread{float: true}
		for range n {
			s.addFloat(float32(mean + rnd.NormFloat64()))
		}
		return s.numbers(0)
	}
	a, b, moved, few := draw(1, 50_000, 0), draw(2, 50_000, 0), draw(3, 50_000, 1), draw(4, 900, 0)
	if !few.Exact || a.Exact {
		t.Fatal("not exact and estimated")
	}
	for _, c := range []struct {
		name     string
		a, b     *Numbers
		ks, psi  float64
		off, far float64
	}{
		{"alike", a, b, 0, 0, 0.02, 0.01},
		{"alike, one exact", a, few, 0, 0, 0.06, 0.1},
		{"exact first", few, a, 0, 0, 0.06, 0.1},
		// 2Φ(½)-1, and the PSI of the two normals over deciles of one.
		{"moved", a, moved, 0.3829, 0.87, 0.02, 0.1},
	} {
		d := compareNumbers(c.a, c.b)
		if math.Abs(d.KS-c.ks) > c.off || math.Abs(d.PSI-c.psi) > c.far {
			t.Errorf("%s: KS %v, PSI %v; want %v, %v", c.name, d.KS, d.PSI, c.ks, c.psi)
		}
	}
	if d := compareNumbers(a, new(spread).numbers(0)); d != nil {
		t.Errorf("with nothing: %+v", d)
	}
}
