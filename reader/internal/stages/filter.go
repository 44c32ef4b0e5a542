package stages

import (
	"context"
	"errors"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Filter adds a stage that drops the records for which keep returns false.
func Filter(before *pipeline.Link, keep func(pipeline.Record) (bool, error)) *pipeline.Link {
	return namedFilter(before, "filter", keep)
}

// namedFilter is Filter with a name that has the settings of keep.
func namedFilter(before *pipeline.Link, name string, keep func(pipeline.Record) (bool, error)) *pipeline.Link {
	next := before.Then(name, func(r *pipeline.Run, up pipeline.Stage) (pipeline.Stage, error) {
		if keep == nil {
			return nil, errors.New("reader: Filter without a function")
		}
		x := &filter{Stage: up, run: r, name: name, keep: keep, counts: r.Stats("filter")}
		r.Tally(&x.bad)
		return x, nil
	})
	next.Calls = true
	return next
}

// filter drops records within the blocks that pass through it. Its own section is the number of
// records between the position of the stage before and a block, and its skip count.
type filter struct {
	pipeline.Stage
	run    *pipeline.Run
	name   string
	bad    pipeline.SkipCount
	keep   func(pipeline.Record) (bool, error)
	counts *pipeline.Counters
	ctx    context.Context

	in     *pipeline.Block // of the stage before
	judged int             // records of it,
	lead   int64           // and to drop before it
}

func (f *filter) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	f.drop()
	lead, bad, up, err := at.PopLead(f.name)
	if err != nil {
		return err
	}
	f.run.SetTally(&f.bad, bad)
	f.ctx, f.lead = ctx, lead
	return f.Stage.Start(ctx, epoch, up)
}

func (f *filter) Stop() {
	f.drop()
	f.Stage.Stop()
}

func (f *filter) drop() {
	if f.in != nil {
		f.in.Release()
		f.in = nil
	}
}

func (f *filter) Next() (*pipeline.Block, error) {
	for {
		watch := f.counts.Watch()
		if f.in == nil {
			b, err := f.Stage.Next()
			watch.Waited()
			if err != nil {
				return nil, err
			}
			f.in, f.judged = b, int(min(f.lead, int64(len(b.Records))))
			f.lead -= int64(f.judged)
		}
		b, err := f.judge()
		watch.Busy()
		if err != nil {
			return nil, err
		}
		if b != nil {
			f.counts.Gave(b)
			return b, nil
		}
	}
}

// judge returns the records that are kept of the rest of a block, or of a part of it that took some
// time; nil if there are none.
func (f *filter) judge() (*pipeline.Block, error) {
	b, from, bad := f.in, f.judged, f.bad.Words()
	patience := pipeline.NewPatience()
	n := from // records before it are in other blocks, or kept
	for i := from; i < len(b.Records); i++ {
		record := b.Records[i]
		keep, err := f.keep(record)
		if err != nil && f.run.Passable(err) {
			keep, err = false, f.run.SkipRecord(&f.bad, record, err)
		} else if err != nil {
			err = f.run.Locate(record, err)
		}
		if err != nil {
			return nil, err
		}
		if keep {
			b.Records[n] = record
			n++
		}
		if f.judged = i + 1; !patience.Over() {
			continue
		}
		if f.ctx.Err() != nil {
			return nil, f.ctx.Err()
		}
		if n > from {
			break
		}
	}
	kept := b.Records[from:n]
	whole := f.judged == len(b.Records)
	if whole {
		f.in = nil
	}
	if len(kept) == 0 {
		if whole {
			b.Release()
		}
		return nil, nil
	}
	out := b
	if !whole {
		out = f.run.NewBlock()
		out.Adopt(b)
		out.At = append(out.At[:0], b.At...)
	}
	out.Records = append(out.Records[:0], kept...)
	out.At = out.At.Push(append([]int64{int64(from)}, bad[:]...)...)
	return out, nil
}
