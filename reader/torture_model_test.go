package reader

import (
	"context"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/records"
	"github.com/tfrec/tfrec/tfrecord"
)

// trial is a pipeline over its own set, drawn from a seed.
type trial struct {
	Files       [][]int `json:"files"` // sizes of the records of each file, in bytes
	Examples    bool    `json:"examples,omitempty"`
	Gzip        bool    `json:"gzip,omitempty"`
	Memory      int64   `json:"memory,omitempty"`
	Parallelism int     `json:"parallelism,omitempty"`
	Seed        uint64  `json:"seed,omitempty"`
	Epoch       int64   `json:"epoch,omitempty"` // the first one
	Epochs      int     `json:"epochs"`          // that follow each other in one run
	Steps       []step  `json:"steps"`           // the source first
	End         string  `json:"end"`
	Batch       int     `json:"batch,omitempty"`
	// Stops are numbers of elements after which the run is closed, and resumed from its State.
	Stops []int `json:"stops,omitempty"`
}

// step is a stage of a pipeline: N and M are its arguments.
type step struct {
	Kind string `json:"kind"`
	N    int    `json:"n,omitempty"`
	M    int    `json:"m,omitempty"`
}

func (s step) String() string { return fmt.Sprintf("%s(%d,%d)", s.Kind, s.N, s.M) }

// item is a record that a pipeline should return.
type item struct {
	file   int32
	number int64
	epoch  int32
	size   int // of its data, which content makes
}

// received returns what the consumer receives in an epoch.
func (t *trial) received(epoch int64) []item {
	all := t.expect(t.Steps, epoch)
	switch t.End {
	case "counted":
		return all[min(t.Batch, len(all)):]
	case "buckets":
		return slices.Concat(bucketModel(all, func(r item) int { return r.size }, t.buckets())...)
	}
	return all
}

func (t *trial) buckets() BucketOptions {
	return BucketOptions{Boundaries: []int{100, 1000, 100_000}, BatchSizes: []int{t.Batch, 1 + t.Batch/2, 3, 2}}
}

// expect returns the output of steps in an epoch, by the simplest definition of each stage.
func (t *trial) expect(steps []step, epoch int64) []item {
	s, before := steps[len(steps)-1], steps[:len(steps)-1]
	if len(before) == 0 {
		return t.source(s, epoch)
	}
	var out []item
	switch s.Kind {
	case "repeat":
		for i := range int64(s.N) {
			pass := t.expect(before, epoch*int64(s.N)+i)
			if len(pass) == 0 {
				break
			}
			out = append(out, pass...)
		}
		return out
	case "cache", "disk", "partial":
		passes := int64(1)
		for _, b := range before {
			if b.Kind == "repeat" {
				passes *= int64(b.N)
			}
		}
		for _, r := range t.expect(before, 0) {
			r.epoch += int32(epoch * passes)
			out = append(out, r)
		}
		return out
	}
	in := t.expect(before, epoch)
	switch s.Kind {
	case "skip":
		return in[min(s.N, len(in)):]
	case "take":
		return in[:min(s.N, len(in))]
	case "map":
		for _, r := range in {
			r.size = s.N
			out = append(out, r)
		}
	case "windows":
		for _, r := range in {
			for from := 0; from < episodeSteps(r.file, r.number, s.N); from += s.M {
				r.size = s.N + from
				out = append(out, r)
			}
		}
	case "filter":
		out = slices.DeleteFunc(in, func(r item) bool { return !kept(r.file, r.number, s.N) })
	case "shuffle":
		n := min(s.N, len(in))
		buffer, rest := slices.Clone(in[:n]), in[n:]
		numbers := pipeline.Draws(pipeline.Key(pipeline.Key(t.Seed, pipeline.ForShuffle, uint64(t.stages(steps))), uint64(epoch)))
		for len(buffer) > 0 {
			i, last := numbers.Below(int64(len(out)), len(buffer)), len(buffer)-1
			out = append(out, buffer[i])
			if len(rest) > 0 {
				buffer[i], rest = rest[0], rest[1:]
			} else {
				buffer[i], buffer = buffer[last], buffer[:last]
			}
		}
	default: // prefetch
		return in
	}
	return out
}

// source returns the output of the first stage.
func (t *trial) source(s step, epoch int64) []item {
	var all, out []item
	lengths := make([]int, len(t.Files))
	for i, sizes := range t.Files {
		lengths[i] = len(sizes)
		for k, size := range sizes {
			all = append(all, item{int32(i), int64(k), int32(epoch), size})
		}
	}
	if s.Kind == "mix" || s.Kind == "concat" {
		return t.joined(s, epoch)
	}
	if s.Kind == "all" {
		o := records.NewOrder(max(int64(len(all)), 1), int64(s.N), int64(s.M), pipeline.Key(t.Seed, pipeline.ForOrder, uint64(epoch)))
		for place := range all {
			out = append(out, all[o.At(int64(place))])
		}
		return out
	}
	for _, p := range interleavePlaces(lengths, s.N, s.M) {
		out = append(out, item{int32(p.file), int64(p.number), int32(epoch), t.Files[p.file][p.number]})
	}
	return out
}

// parts returns the pipes of a Mix or Concat: each of some of the files, the second one shuffled or
// repeated.
func (t *trial) parts(s step) (parts []trial) {
	n := min(max(s.N, 1), len(t.Files))
	for i := range n {
		of := trial{Files: t.Files[i*len(t.Files)/n : (i+1)*len(t.Files)/n], Seed: t.Seed, Steps: []step{{"interleave", 2, 1}}}
		if i == 1 && s.M&mixShuffled != 0 {
			of.Steps = append(of.Steps, step{"shuffle", 7, 0})
		}
		if i == 1 && s.M&mixRepeated != 0 {
			of.Steps = append(of.Steps, step{"repeat", 2, 0})
		}
		parts = append(parts, of)
	}
	return parts
}

// stages returns the number of stages of a pipeline, those of its inputs included.
func (t *trial) stages(steps []step) int {
	n := len(steps)
	for _, s := range steps {
		if s.Kind == "windows" {
			n += 2
		}
	}
	if s := steps[0]; s.Kind == "mix" || s.Kind == "concat" {
		for _, part := range t.parts(s) {
			n += len(part.Steps)
		}
	}
	return n
}

// Bits of M of a mix.
const (
	mixShuffled = 1 << iota
	mixRepeated
	mixStops
	mixChosen
	mixBits
)

// joined returns the output of Mix or Concat in an epoch.
func (t *trial) joined(s step, epoch int64) (out []item) {
	var in [][]item
	file := int32(0)
	for _, part := range t.parts(s) {
		its := part.expect(part.Steps, epoch)
		for i := range its {
			its[i].file += file
		}
		file += int32(len(part.Files))
		in = append(in, its)
	}
	if s.Kind == "concat" {
		return slices.Concat(in...)
	}
	weights := mixWeights(len(in))
	numbers := pipeline.Draws(pipeline.Key(t.Seed, pipeline.ForMix, uint64(epoch)))
	ended := make([]bool, len(in))
	for drawn := int64(0); slices.Contains(ended, false); drawn++ {
		total, from := 0.0, 0
		for i, w := range weights {
			if !ended[i] {
				total += w
			}
		}
		for u := numbers.Float(drawn) * total; ended[from] || u >= weights[from]; from++ {
			if !ended[from] {
				u -= weights[from]
			}
		}
		if s.M&mixChosen != 0 {
			from = mixChoice(epoch, drawn, len(in))
		}
		if len(in[from]) > 0 {
			out, in[from] = append(out, in[from][0]), in[from][1:]
			continue
		}
		if s.M&mixStops != 0 {
			break
		}
		ended[from] = true
	}
	return out
}

// mixWeights are the weights of trials. They and their sums are exact.
func mixWeights(n int) (weights []float64) {
	for i := range n {
		weights = append(weights, float64(i+1))
	}
	return weights
}

// mixChoice is the Choose of trials.
func mixChoice(epoch, n int64, pipes int) int { return int((epoch + n*n + n/3) % int64(pipes)) }

// kept is the filter of trials: by n all records, none, or some.
func kept(file int32, number int64, n int) bool {
	return n == 0 || n > 1 && (int64(file)+number)%int64(n) == 0
}

// pipe builds the pipeline.
func (t *trial) pipe(set *Set, dir string, steps []step) Pipe {
	s := steps[len(steps)-1]
	if len(steps) == 1 {
		if s.Kind == "all" {
			return set.ShuffleAll(ShuffleAllOptions{Block: s.N, Window: s.M})
		}
		if s.Kind == "mix" || s.Kind == "concat" {
			return t.join(set, dir, s)
		}
		return set.Interleave(s.N, s.M)
	}
	p := t.pipe(set, dir, steps[:len(steps)-1])
	switch s.Kind {
	case "repeat":
		return p.Repeat(s.N)
	case "cache":
		return p.Cache(CacheOptions{})
	case "disk":
		return p.Cache(CacheOptions{Dir: fmt.Sprintf("%s/cache%d", dir, len(steps)), Version: "1"})
	case "partial":
		return p.Cache(CacheOptions{Limit: int64(s.N), Partial: true})
	case "skip":
		return p.Skip(int64(s.N))
	case "take":
		return p.Take(int64(s.N))
	case "map":
		return MapData(p, func(dst []byte, r Record) ([]byte, error) {
			return append(dst, t.content(r.File, r.Number, s.N)...), nil
		}, MapDataOptions{Workers: s.M})
	case "windows":
		return t.windows(p, s.N, s.M)
	case "filter":
		return p.Filter(func(r Record) (bool, error) { return kept(r.File, r.Number, s.N), nil })
	case "shuffle":
		return p.Shuffle(s.N)
	case "prefetch":
		return p.Prefetch(s.N)
	}
	panic("no stage " + s.Kind)
}

// join builds a Mix or Concat.
func (t *trial) join(set *Set, dir string, s step) Pipe {
	var pipes []Pipe
	file := 0
	for _, part := range t.parts(s) {
		var paths []string
		for range part.Files {
			paths = append(paths, readertest.ShardPath(dir, file))
			file++
		}
		of, err := OpenAll(context.Background(), paths, set.files.Opts)
		if err != nil {
			panic(err)
		}
		pipes = append(pipes, part.pipe(of, dir, part.Steps))
	}
	if s.Kind == "concat" {
		return Concat(pipes...)
	}
	o := MixOptions{StopOnEmpty: s.M&mixStops != 0}
	if s.M&mixChosen != 0 {
		o.Choose = func(epoch, n int64) int { return mixChoice(epoch, n, len(pipes)) }
	} else {
		o.Weights = mixWeights(len(pipes))
	}
	return Mix(o, pipes...)
}

// episodeSteps is the number of steps that trials give a record.
func episodeSteps(file int32, number int64, n int) int { return int(int64(file)+number) % (3 * n) }

// windows makes each record an episode, cuts it into windows, and makes each window a record of n
// bytes and the number of its first step.
func (t *trial) windows(p Pipe, n, stride int) Pipe {
	schema := columns.Schema{
		{Key: "at", Kind: tfrecord.KindInt64, Steps: columns.FlatSteps},
		{Key: "v", Kind: tfrecord.KindFloat, Shape: []int{3}, Steps: columns.FlatSteps},
	}
	p = MapData(p, func(dst []byte, r Record) ([]byte, error) {
		var b tfrecord.Builder
		steps := make([]int64, episodeSteps(r.File, r.Number, n))
		for i := range steps {
			steps[i] = int64(i)
		}
		b.Int64("at", steps...)
		b.Float("v", make([]float32, 3*len(steps))...)
		return b.Append(dst), nil
	}, MapDataOptions{})
	p = Windows(p, columns.WindowSpec{Schema: schema, Length: n, Stride: stride})
	return MapData(p, func(dst []byte, r Record) ([]byte, error) {
		var e tfrecord.Example
		if err := e.Parse(r.Data); err != nil {
			return nil, err
		}
		at, _ := e.Get("at")
		from, _ := at.Int64()
		if steps := episodeSteps(r.File, r.Number, n); at.Len() != min(n, steps-int(from)) {
			return nil, fmt.Errorf("a window of %d steps at %d of %d", at.Len(), from, steps)
		}
		return append(dst, t.content(r.File, r.Number, n+int(from))...), nil
	}, MapDataOptions{})
}

// content returns the data of a record: filler of that size, unique to the record, alone or as a
// feature of an Example.
func (t *trial) content(file int32, number int64, size int) []byte {
	filler := make([]byte, size)
	n := copy(filler, fmt.Appendf(nil, "%d/%d/%d;", file, number, size))
	for n > 0 && n < size {
		n += copy(filler[n:], filler[:n])
	}
	if !t.Examples {
		return filler
	}
	var b tfrecord.Builder
	b.Int64("id", recordID(file, number))
	b.Bytes("filler", filler)
	b.Bytes(DefaultImageKey, tinyJPEG())
	b.Int64(DefaultLabelKey, recordID(file, number))
	return b.Append(nil)
}

// recordID numbers the records of a set.
func recordID(file int32, number int64) int64 { return int64(file)<<32 | number }
