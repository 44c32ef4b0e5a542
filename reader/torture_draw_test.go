package reader

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// sizes of records in trials: around the sizes of blocks and buffers, typical ones, and larger than
// the memory limit.
var tortureSizes = map[string]func(*rand.Rand) int{
	"empty":  func(*rand.Rand) int { return 0 },
	"100 B":  func(*rand.Rand) int { return 100 },
	"16 KiB": func(r *rand.Rand) int { return stages.LargeRecord - 2 + r.IntN(4) },
	"100 KB": func(r *rand.Rand) int { return 100_000 + r.IntN(10_000) },
	"150 KB": func(r *rand.Rand) int { return 150_000 + r.IntN(1000) },
	"1 MiB":  func(r *rand.Rand) int { return pipeline.BlockBytes - 2 + r.IntN(4) },
	"5 MiB":  func(r *rand.Rand) int { return 5<<20 + r.IntN(100) },
	"small":  func(r *rand.Rand) int { return r.IntN(300) },
	"photos": func(r *rand.Rand) int { return 20_000 + r.IntN(250_000) },
	"mixed":  func(r *rand.Rand) int { return r.IntN(1 << r.IntN(23)) },
}

// ends are the ways to consume a pipe.
var ends = []string{"next", "blocks", "batch", "map", "elements", "counted", "buckets", "columns", "pictures"}

// drawnSteps are the steps of trials, without the source, each drawn for a number of records. Their
// names are those of [trial.pipe].
var drawnSteps = map[string]func(r *rand.Rand, records int) step{
	"repeat":   func(r *rand.Rand, _ int) step { return step{"repeat", 1 + r.IntN(3), 0} },
	"cache":    func(*rand.Rand, int) step { return step{Kind: "cache"} },
	"disk":     func(*rand.Rand, int) step { return step{Kind: "disk"} },
	"partial":  func(r *rand.Rand, _ int) step { return step{"partial", 1 + r.IntN(1<<r.IntN(22)), 0} },
	"skip":     func(r *rand.Rand, n int) step { return step{"skip", r.IntN(n + 2), 0} },
	"take":     func(r *rand.Rand, n int) step { return step{"take", r.IntN(2*n + 2), 0} },
	"map":      func(r *rand.Rand, _ int) step { return step{"map", r.IntN(1 << r.IntN(19)), r.IntN(4)} },
	"filter":   func(r *rand.Rand, _ int) step { return step{"filter", r.IntN(5), 0} },
	"shuffle":  func(r *rand.Rand, n int) step { return step{"shuffle", 1 + r.IntN(n+10), 0} },
	"windows":  func(r *rand.Rand, _ int) step { return step{"windows", 1 + r.IntN(4), 1 + r.IntN(3)} },
	"prefetch": func(r *rand.Rand, _ int) step { return step{"prefetch", r.IntN(4), 0} },
}

// draw makes a trial from a seed. Its set has about mostBytes of records at most.
func draw(seed uint64, mostBytes int) trial {
	r := rand.New(rand.NewPCG(seed, 8))
	kinds := slices.Sorted(maps.Keys(tortureSizes))
	t := trial{Seed: seed, Gzip: r.IntN(4) == 0, Epochs: 1 + r.IntN(3), Epoch: int64(r.IntN(3)), Batch: 1 + r.IntN(40)}
	t.Memory = []int64{0, 4 << 20, 16 << 20}[r.IntN(3)]
	t.Parallelism = []int{0, 1, 3}[r.IntN(3)]
	t.End = ends[r.IntN(len(ends))]
	t.Examples = t.End == "columns" || t.End == "pictures"
	t.fill(r, tortureSizes[kinds[r.IntN(len(kinds))]], 1+r.IntN(9), 1+r.IntN(2500), mostBytes)
	names := slices.Sorted(maps.Keys(drawnSteps))
	for range r.IntN(5) {
		t.Steps = append(t.Steps, drawnSteps[names[r.IntN(len(names))]](r, t.records()))
	}
	t.bound(mostBytes)
	if want := len(t.received(0)); want > 0 {
		for range r.IntN(3) {
			t.Stops = append(t.Stops, r.IntN(want*t.Epochs+1))
		}
	}
	slices.Sort(t.Stops)
	return t
}

// fill draws the files of the set, and a source that can read them.
func (t *trial) fill(r *rand.Rand, size func(*rand.Rand) int, files, records, mostBytes int) {
	t.Files = make([][]int, files)
	for total, i := 0, 0; i < records && (i < 3 || total < mostBytes); i++ {
		f, n := r.IntN(files), size(r)
		t.Files[f] = append(t.Files[f], n)
		total += n
	}
	source := step{"interleave", 1 + r.IntN(files+2), 1 + r.IntN(4)}
	if !t.Gzip && r.IntN(4) == 0 {
		source = step{"all", 1 + r.IntN(4), 1 + r.IntN(4)}
	}
	if r.IntN(4) == 0 {
		source = step{[]string{"mix", "concat"}[r.IntN(2)], 1 + r.IntN(4), r.IntN(mixBits)}
	}
	t.Steps = append(t.Steps[:0], source)
}

func (t *trial) records() (n int) {
	for _, f := range t.Files {
		n += len(f)
	}
	return n
}

// bound removes stages that multiply the data beyond what a trial may take.
func (t *trial) bound(mostBytes int) {
	bytes, records := 0, t.records()
	for _, f := range t.Files {
		for _, n := range f {
			bytes += n
		}
	}
	join := t.Steps[0]
	repeated := (join.Kind == "mix" || join.Kind == "concat") && join.M&mixRepeated != 0
	if repeated {
		bytes, records = 2*bytes, 2*records
	}
	t.Steps = slices.DeleteFunc(t.Steps, func(s step) bool {
		switch s.Kind {
		case "cache", "disk", "partial":
			return repeated // Cache refuses pipes that repeat a different number of times
		case "map":
			if records*s.N > 4*mostBytes {
				return true
			}
			bytes = records * s.N
		case "windows": // at most 3*N windows of each record, of at most 4*N bytes
			if 12*records*s.N*s.N > 8*mostBytes {
				return true
			}
			records *= 3 * s.N
			bytes = 4 * records * s.N
		case "repeat":
			if bytes*s.N > 8*mostBytes {
				return true
			}
			bytes, records = bytes*s.N, records*s.N
		}
		return false
	})
}

// smaller returns reduced trials.
func (t *trial) smaller() (all []trial) {
	add := func(change func(*trial)) {
		s := *t
		s.Steps, s.Stops, s.Files = slices.Clone(t.Steps), slices.Clone(t.Stops), slices.Clone(t.Files)
		if change(&s); s.records() > 0 {
			all = append(all, s)
		}
	}
	for i := 1; i < len(t.Steps); i++ {
		add(func(s *trial) { s.Steps = slices.Delete(s.Steps, i, i+1) })
	}
	for i := range t.Stops {
		add(func(s *trial) { s.Stops = slices.Delete(s.Stops, i, i+1) })
	}
	for i := range t.Files {
		if len(t.Files) > 1 {
			add(func(s *trial) { s.Files = slices.Delete(s.Files, i, i+1) })
		}
		if n := len(t.Files[i]); n > 1 {
			add(func(s *trial) { s.Files[i] = s.Files[i][:n/2] })
			add(func(s *trial) { s.Files[i] = s.Files[i][:n-1] })
		}
	}
	if t.Epochs > 1 {
		add(func(s *trial) { s.Epochs-- })
	}
	if t.Epoch > 0 {
		add(func(s *trial) { s.Epoch = 0 })
	}
	if t.Gzip {
		add(func(s *trial) { s.Gzip = false })
	}
	if t.Memory > 0 {
		add(func(s *trial) { s.Memory = 0 })
	}
	if t.End != "next" {
		add(func(s *trial) { s.End = "next" })
	}
	return all
}
