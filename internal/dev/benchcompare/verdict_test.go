package main

import (
	"errors"
	"regexp"
	"slices"
	"testing"
)

// build returns what runs of two builds take: the old one a second, the new one the given ratios,
// one after the other; the last one repeats.
func build(measured *int, cpu, elapsed []float64) func() (pair, error) {
	return func() (pair, error) {
		i := *measured
		*measured++
		return pair{before: cost{1, 1}, after: cost{cpu[min(i, len(cpu)-1)], elapsed[min(i, len(elapsed)-1)]}}, nil
	}
}

func TestJudge(t *testing.T) {
	slow, first := []float64{1.2}, []float64{1.2, 1.2, 1.2, 1}
	for name, c := range map[string]struct {
		cpu, elapsed []float64
		pairs        int
		lost, again  bool
	}{
		"equal":                     {[]float64{1}, []float64{1}, 3, false, false},
		"faster":                    {[]float64{0.5}, []float64{0.5}, 3, false, false},
		"just within the limit":     {[]float64{1.05}, []float64{1.05}, 3, false, false},
		"slower":                    {slow, slow, 9, true, true},
		"a busy machine":            {[]float64{1}, slow, 3, false, false},
		"a slow clock":              {slow, []float64{1}, 3, false, false},
		"one slow run":              {[]float64{1.9, 1}, []float64{1.9, 1}, 3, false, false},
		"slower, but not again":     {first, first, 9, false, true},
		"slower again in CPU alone": {slow, first, 9, false, true},
	} {
		measured := 0
		v, err := rule{pairs: 3, limit: 0.05}.judge(build(&measured, c.cpu, c.elapsed))
		if err != nil || v.lost != c.lost || v.again != c.again || measured != c.pairs {
			t.Errorf("%s: %+v after %d pairs, %v", name, v, measured, err)
		}
	}
}

func TestJudgeStopsAtAnError(t *testing.T) {
	broken := errors.New("exit status 1")
	if _, err := (rule{pairs: 3}).judge(func() (pair, error) { return pair{}, broken }); err != broken {
		t.Errorf("%v", err)
	}
}

// Builds are scripts here: one does nothing, the other counts to 20,000.
func TestCompareNamesWhatLost(t *testing.T) {
	before, after := script(t, "exit 0"), script(t, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
	lost, err := compare(before, after, "testdata", regexp.MustCompile("^version$"), rule{pairs: 3, limit: 0.05})
	if err != nil || !slices.Equal(lost, []string{"version"}) {
		t.Errorf("%q, %v", lost, err)
	}
	if lost, err = compare(after, before, "testdata", regexp.MustCompile("^version$"), rule{pairs: 3, limit: 0.05}); err != nil || len(lost) > 0 {
		t.Errorf("faster: %q, %v", lost, err)
	}
	if _, err := compare(before, script(t, "echo disk full; exit 1"), "testdata", regexp.MustCompile("^version$"), rule{pairs: 3}); err == nil {
		t.Error("a build that fails is compared")
	}
	if _, err := compare(before, after, "testdata", regexp.MustCompile("no such job"), rule{pairs: 3}); err == nil {
		t.Error("no job, and no error")
	}
}
