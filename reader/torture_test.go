package reader

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// Pipelines drawn from a seed return what the model returns, from any state, in any epoch.
func TestRandomPipelines(t *testing.T) {
	mostBytes := 1 << 20
	if torture.On() {
		mostBytes = 24 << 20
	}
	for _, seed := range torture.Sample(t, 100, torture.Seeds(200, 1000)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			draw(seed, mostBytes).check(t)
		})
	}
}

// Each stage before and after each, with records from none to several blocks' size.
func TestPairsOfStages(t *testing.T) {
	sizes := []string{"100 KB"}
	if torture.On() {
		sizes = slices.Sorted(maps.Keys(tortureSizes))
	}
	type pair struct {
		seed                uint64
		size, before, after string
	}
	var pairs []pair
	for _, size := range sizes {
		for _, before := range slices.Sorted(maps.Keys(drawnSteps)) {
			for _, after := range slices.Sorted(maps.Keys(drawnSteps)) {
				pairs = append(pairs, pair{uint64(len(pairs) + 1), size, before, after})
			}
		}
	}
	for _, p := range torture.Sample(t, len(pairs)/2, pairs) {
		t.Run(p.size+"/"+p.before+"/"+p.after, func(t *testing.T) {
			t.Parallel()
			pairTrial(p.seed, p.size, p.before, p.after, 3<<20).check(t)
		})
	}
}

// Records larger than a pipeline's memory limit, with each single stage.
func TestHugeRecords(t *testing.T) {
	if !torture.On() {
		t.Skip("it takes a minute and gigabytes: give -torture to run it")
	}
	for i, name := range slices.Sorted(maps.Keys(drawnSteps)) {
		for j, end := range []string{"next", "batch", "columns"} {
			t.Run(name+"/"+end, func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(i), 10))
				x := trial{Memory: []int64{0, 4 << 20}[(i+j)%2], Gzip: i%3 == 0, End: end, Examples: end == "columns", Batch: 2, Epochs: 2, Stops: []int{1}}
				x.Files = [][]int{{200 << 20, 0}, {200<<20 + 1}}
				x.Steps = []step{{"interleave", 2, 1}, drawnSteps[name](r, 3)}
				x.check(t)
			})
		}
	}
}

func pairTrial(seed uint64, size, before, after string, mostBytes int) trial {
	r := rand.New(rand.NewPCG(seed, 9))
	t := draw(seed, 1) // the end, memory and the like
	t.fill(r, tortureSizes[size], 4, 1000, mostBytes)
	for _, name := range []string{before, after} {
		t.Steps = append(t.Steps, drawnSteps[name](r, t.records()))
	}
	t.bound(mostBytes)
	t.Stops = []int{t.records() / 3, t.records()}
	return t
}
