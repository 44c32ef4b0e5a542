package reader

import (
	"fmt"
	"slices"

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
			out = append(out, t.expect(before, epoch*int64(s.N)+i)...)
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
	case "filter":
		out = slices.DeleteFunc(in, func(r item) bool { return !kept(r.file, r.number, s.N) })
	case "shuffle":
		n := min(s.N, len(in))
		buffer, rest := slices.Clone(in[:n]), in[n:]
		numbers := draws(key(key(t.Seed, forShuffle, uint64(len(steps))), uint64(epoch)))
		for len(buffer) > 0 {
			i, last := numbers.below(int64(len(out)), len(buffer)), len(buffer)-1
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
	if s.Kind == "all" {
		o := newOrder(max(int64(len(all)), 1), int64(s.N), int64(s.M), key(t.Seed, forOrder, uint64(epoch)))
		for place := range all {
			out = append(out, all[o.at(int64(place))])
		}
		return out
	}
	for _, p := range interleavePlaces(lengths, s.N, s.M) {
		out = append(out, item{int32(p.file), int64(p.number), int32(epoch), t.Files[p.file][p.number]})
	}
	return out
}

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
		return set.Interleave(s.N, s.M)
	}
	p := t.pipe(set, dir, steps[:len(steps)-1])
	switch s.Kind {
	case "repeat":
		return p.Repeat(s.N)
	case "cache":
		return p.Cache(CacheOptions{})
	case "disk":
		return p.Cache(CacheOptions{Dir: fmt.Sprintf("%s/cache%d", dir, len(steps))})
	case "partial":
		return p.Cache(CacheOptions{Limit: int64(s.N), Partial: true})
	case "skip":
		return p.Skip(int64(s.N))
	case "take":
		return p.Take(int64(s.N))
	case "map":
		return p.Map(s.String(), func(dst []byte, r Record) ([]byte, error) {
			return append(dst, t.content(r.File, r.Number, s.N)...), nil
		}, MapOptions{Workers: s.M})
	case "filter":
		return p.Filter(s.String(), func(r Record) (bool, error) { return kept(r.File, r.Number, s.N), nil })
	case "shuffle":
		return p.Shuffle(s.N)
	case "prefetch":
		return p.Prefetch(s.N)
	}
	panic("no stage " + s.Kind)
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
