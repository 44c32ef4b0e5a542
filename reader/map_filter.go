package reader

import (
	"context"
	"fmt"
)

// recordFilter adds a stage that drops the records for which keep returns false.
func recordFilter(before *link, name string, keep func(Record) (bool, error)) *link {
	name = fmt.Sprintf("filter(%s)", name)
	return before.then(name, func(r *run, up stage) (stage, error) {
		if keep == nil {
			return nil, fmt.Errorf("reader: %s without a function", name)
		}
		x := &filter{stage: up, run: r, name: name, keep: keep, counts: r.stats("filter")}
		r.tally(&x.bad)
		return x, nil
	})
}

// filter drops records within the blocks that pass through it. Its own section is the number of
// records of the stage before between that stage's position and that of a block, and its skip count.
type filter struct {
	stage
	run    *run
	name   string
	bad    skipCount
	keep   func(Record) (bool, error)
	counts *stageStats
	ctx    context.Context

	in     *recordBlock // of the stage before
	judged int    // records of it,
	lead   int64  // and to drop before it
}

func (f *filter) start(ctx context.Context, epoch int64, at position) error {
	f.drop()
	lead, bad, up, err := at.popLead(f.name)
	if err != nil {
		return err
	}
	f.run.setTally(&f.bad, bad)
	f.ctx, f.lead = ctx, lead
	return f.stage.start(ctx, epoch, up)
}

func (f *filter) stop() {
	f.drop()
	f.stage.stop()
}

func (f *filter) drop() {
	if f.in != nil {
		f.in.Release()
		f.in = nil
	}
}

func (f *filter) next() (*recordBlock, error) {
	for {
		watch := f.counts.watch()
		if f.in == nil {
			b, err := f.stage.next()
			watch.waited()
			if err != nil {
				return nil, err
			}
			f.in, f.judged = b, int(min(f.lead, int64(len(b.Records))))
			f.lead -= int64(f.judged)
		}
		b, err := f.judge()
		watch.busy()
		if err != nil {
			return nil, err
		}
		if b != nil {
			f.counts.gave(b)
			return b, nil
		}
	}
}

// judge returns the records that are kept of the rest of a block, or of a part of it that took some
// time; nil if there are none.
func (f *filter) judge() (*recordBlock, error) {
	b, from, bad := f.in, f.judged, f.bad.words()
	patience := newPatience()
	n := from // records before it are those of other blocks, or kept
	for i := from; i < len(b.Records); i++ {
		record := b.Records[i]
		keep, err := f.keep(record)
		if err != nil && f.run.passable(err) {
			keep, err = false, f.run.skipRecord(&f.bad, record, err)
		} else if err != nil {
			err = f.run.locate(record, err)
		}
		if err != nil {
			return nil, err
		}
		if keep {
			b.Records[n] = record
			n++
		}
		if f.judged = i + 1; !patience.over() {
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
		out = f.run.newBlock()
		out.adopt(b)
		out.at = append(out.at[:0], b.at...)
	}
	out.Records = append(out.Records[:0], kept...)
	out.at = out.at.push(append([]int64{int64(from)}, bad[:]...)...)
	return out, nil
}
