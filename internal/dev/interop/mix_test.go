//go:build interop

package interop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// mixture is a request to mix.py.
type mixture struct {
	Lengths    []int     `json:"lengths"`
	Weights    []float64 `json:"weights"`
	Choices    []int     `json:"choices"`
	Stop       bool      `json:"stop"`
	Seed       int       `json:"seed"`
	RepeatLast bool      `json:"repeat_last"`
	Zip        bool      `json:"zip"`
}

// mixJudge starts mix.py and returns a function that asks it.
func mixJudge(t *testing.T) func(mixture) []int {
	t.Helper()
	ask := startScript(t, *python, "mix.py")
	return func(m mixture) (list []int) {
		t.Helper()
		ask(t, m, &list)
		return list
	}
}

// ours returns what package reader makes of the same.
func (m mixture) ours(t *testing.T) []int {
	t.Helper()
	var pipes []reader.Pipe
	for i, n := range m.Lengths {
		path := filepath.Join(t.TempDir(), "data.tfrecord")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := tfrecord.NewWriter(f, tfrecord.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range n {
			if err := w.WriteRecord(fmt.Appendf(nil, "%d", i*1000000+k)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		set, err := reader.Open(t.Context(), path, reader.Options{Seed: uint64(m.Seed), Memory: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		pipes = append(pipes, set.Records())
	}
	if last := &pipes[len(pipes)-1]; m.RepeatLast {
		*last = last.Repeat(-1)
	}
	number := func(data []byte) int {
		n, err := strconv.Atoi(string(data))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var list []int
	if m.Zip {
		pair := func(records []reader.Record) (numbers []int, err error) {
			for _, r := range records {
				numbers = append(numbers, number(r.Data))
			}
			return numbers, nil
		}
		for numbers, err := range reader.Zip(pair, pipes...).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, numbers...)
		}
		return list
	}
	p := reader.Concat(pipes...)
	switch o := (reader.MixOptions{Weights: m.Weights, StopOnEmpty: m.Stop}); {
	case m.Choices != nil:
		o.Choose = func(_, n int64) int {
			if n == int64(len(m.Choices)) {
				return -1
			}
			return m.Choices[n]
		}
		p = reader.Mix(o, pipes...)
	case m.Weights != nil:
		p = reader.Mix(o, pipes...)
	}
	for r, err := range p.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, number(r.Data))
	}
	return list
}

// Choose returns what choose_from_datasets returns, to the element, Concat what concatenate does, and
// Zip what zip does.
func TestChoicesAreThoseOfTensorFlow(t *testing.T) {
	judge := mixJudge(t)
	rnd := rand.New(rand.NewPCG(21, 1))
	for range 60 {
		m := mixture{Stop: rnd.IntN(2) == 0}
		for range 1 + rnd.IntN(4) {
			m.Lengths = append(m.Lengths, rnd.IntN(30))
		}
		if m.Zip = rnd.IntN(4) == 0; !m.Zip && rnd.IntN(4) > 0 {
			m.Choices = []int{}
			for range rnd.IntN(150) {
				m.Choices = append(m.Choices, rnd.IntN(len(m.Lengths)))
			}
		}
		want, got := judge(m), m.ours(t)
		if !slices.Equal(got, want) {
			t.Errorf("%+v\nreturns %v\nTensorFlow %v", m, got, want)
		}
	}
}

// Mix draws as often from each pipe as sample_from_datasets does, within the spread of both, and
// ends as it does.
func TestMixturesAreThoseOfTensorFlow(t *testing.T) {
	judge := mixJudge(t)
	for i, m := range []mixture{
		{Lengths: []int{8000, 8000, 8000}, Weights: []float64{0.5, 0.3, 0.2}},
		{Lengths: []int{8000, 8000, 8000}, Weights: []float64{0.9, 0.1, 0}},
		{Lengths: []int{4000, 10}, Weights: []float64{0.8, 0.2}, Stop: true, RepeatLast: true},
		{Lengths: []int{300, 8000}, Weights: []float64{0.5, 0.5}},
	} {
		m.Seed = i + 1
		want, got := judge(m), m.ours(t)
		const first = 400 // before any ends
		for k, w := range m.Weights {
			total := 0.0
			for _, w := range m.Weights {
				total += w
			}
			p := w / total
			a, b := countOf(got[:first], k), countOf(want[:first], k)
			if spread := 5 * math.Sqrt(first*p*(1-p)); math.Abs(a-first*p) > spread || math.Abs(b-first*p) > spread {
				t.Errorf("%v: pipe %d in %g of the first %d elements, TensorFlow %g, want about %g", m.Weights, k, a, first, b, first*p)
			}
			if ours, theirs := countOf(got, k), countOf(want, k); !m.RepeatLast && ours != theirs {
				t.Errorf("%v: %g elements of pipe %d, TensorFlow %g", m.Weights, ours, k, theirs)
			}
		}
		if m.Stop && countOf(got, 0) != countOf(want, 0) {
			t.Errorf("the pipe that ends first has %g elements, TensorFlow %g", countOf(got, 0), countOf(want, 0))
		}
	}
}

// countOf counts the numbers of a dataset.
func countOf(list []int, set int) (n float64) {
	for _, v := range list {
		if v/1000000 == set {
			n++
		}
	}
	return n
}
