package fileset

import (
	"context"
	"fmt"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// worker identifies the worker of the set.
func (s *Set) worker() [2]int { return [2]int{s.Opts.Worker, s.Opts.Workers} }

// byFile reports whether the set is divided by file.
func (s *Set) byFile() bool {
	switch s.Opts.ShardBy {
	case pipeline.ShardFiles:
		return true
	case pipeline.ShardRecords:
		return false
	}
	return s.Opts.Uneven == pipeline.UnevenKeep && len(s.sources) >= s.Opts.Workers
}

// Sharding describes in one line what this worker reads and how the set was divided.
func (s *Set) Sharding() string {
	switch files := len(s.sources); {
	case s.Opts.Workers == 1:
		return fmt.Sprintf("all of %s", plural.Of(files, "file"))
	case s.byFile():
		return fmt.Sprintf("by file: %d of %s", len(s.filesOf(s.Opts.Worker)), plural.Of(files, "file"))
	default:
		return fmt.Sprintf("by record: part %d of %d of the records in %s", s.Opts.Worker+1, s.Opts.Workers, plural.Of(files, "file"))
	}
}

func (s *Set) filesOf(worker int) []int {
	var files []int
	for i := worker; i < len(s.sources); i += s.Opts.Workers {
		files = append(files, i)
	}
	return files
}

// stretch is a run of records of a file, by number.
type stretch struct {
	file     int
	from, to int64
	pad      bool
}

// Pieces returns what this worker reads, in order.
func (s *Set) Pieces(ctx context.Context) ([]Piece, error) {
	s.mu.Lock()
	parts := s.parts[s.worker()]
	s.mu.Unlock()
	if parts != nil {
		return parts, nil
	}
	parts, err := s.makePieces(ctx)
	if err == nil {
		err = ctx.Err() // an index file may not have been read
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.parts[s.worker()] = parts
	s.mu.Unlock()
	return parts, nil
}

func (s *Set) makePieces(ctx context.Context) ([]Piece, error) {
	parts := []Piece{}
	if s.byFile() && (s.Opts.Uneven == pipeline.UnevenKeep || s.Opts.Workers == 1) {
		for _, i := range s.filesOf(s.Opts.Worker) {
			parts = append(parts, WholeFile(i))
		}
		return parts, nil
	}
	all, err := s.AllIndexes(ctx)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(all))
	for i, x := range all {
		counts[i] = x.Records
	}
	var stretches []stretch
	if s.byFile() {
		if stretches, err = DivideFiles(counts, s.Opts.Worker, s.Opts.Workers, s.Opts.Uneven); err != nil {
			return nil, err
		}
	} else {
		stretches = divideRecords(counts, s.Opts.Worker, s.Opts.Workers, s.Opts.Uneven)
	}
	for _, t := range stretches {
		p := Piece{File: int32(t.file), Pad: t.pad, End: NoEnd}
		if p.From, err = s.place(ctx, t.file, all[t.file], t.from); err != nil {
			return nil, err
		}
		if t.to < counts[t.file] {
			if p.End, err = s.place(ctx, t.file, all[t.file], t.to); err != nil {
				return nil, err
			}
			if !all[t.file].plain {
				p.End.Offset = NoEnd.Offset
			}
		}
		parts = append(parts, p)
	}
	for i, x := range all {
		// An empty file is in no worker's part. One worker reports it if it should have records.
		if x.Records == 0 && i%s.Opts.Workers == s.Opts.Worker && s.MissingRecords(ctx, WholeFile(i), pipeline.Cursor{}, x.plain) != nil {
			parts = append(parts, WholeFile(i))
		}
	}
	return parts, nil
}

// share returns the run of records, of total, that a worker reads, and how many of them it repeats.
func share(total int64, worker, workers int, ends pipeline.Uneven) (from, to, pad int64) {
	i, n := int64(worker), int64(workers)
	each, more := total/n, total%n
	from = each*i + min(i, more)
	to = from + each
	if i < more {
		to++
	}
	switch {
	case ends == pipeline.UnevenDrop:
		to = from + each
	case ends == pipeline.UnevenPad && more > 0 && i >= more:
		pad = 1
	}
	return from, to, pad
}

// divideRecords cuts the concatenated records of all files into runs.
func divideRecords(counts []int64, worker, workers int, ends pipeline.Uneven) []stretch {
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	from, to, pad := share(total, worker, workers, ends)
	stretches := cut(nil, counts, from, to, false)
	if pad > 0 {
		at := to % total
		stretches = cut(stretches, counts, at, at+1, true)
	}
	return stretches
}

// cut appends the stretches of the records from..to of all files.
func cut(dst []stretch, counts []int64, from, to int64, pad bool) []stretch {
	for i, n := range counts {
		if a, b := max(from, 0), min(to, n); a < b {
			dst = append(dst, stretch{i, a, b, pad})
		}
		from, to = from-n, to-n
	}
	return dst
}

// DivideFiles assigns whole files to workers, and then evens out the parts to the shortest or the
// longest one.
func DivideFiles(counts []int64, worker, workers int, ends pipeline.Uneven) ([]stretch, error) {
	lengths := make([]int64, workers)
	var own, all []stretch
	for i, n := range counts {
		lengths[i%workers] += n
		t := stretch{file: i, to: n}
		all = append(all, t)
		if i%workers == worker {
			own = append(own, t)
		}
	}
	want := lengths[0]
	for _, n := range lengths {
		if ends == pipeline.UnevenDrop {
			want = min(want, n)
		} else {
			want = max(want, n)
		}
	}
	parts := upTo(nil, own, min(want, lengths[worker]), false)
	again := own
	if lengths[worker] == 0 {
		again = all
	}
	pad, have := want-min(want, lengths[worker]), int64(0)
	for _, t := range again {
		have += t.to
	}
	if have > 0 && pad/have > maxRounds {
		return nil, fmt.Errorf("worker %d has %s, another one %d: too few to fill up with; divide by record", worker, plural.Of(lengths[worker], "record"), want)
	}
	return upTo(parts, again, pad, true), nil
}

// maxRounds is the maximum number of times a part is repeated to match the length of others.
const maxRounds = 1 << 16

// upTo appends the first n records of stretches, starting over if there are fewer.
func upTo(dst, stretches []stretch, n int64, pad bool) []stretch {
	for n > 0 {
		for _, t := range stretches {
			t.to = t.from + min(t.to-t.from, n)
			t.pad = pad
			if t.to > t.from {
				dst = append(dst, t)
				n -= t.to - t.from
			}
		}
	}
	return dst
}
