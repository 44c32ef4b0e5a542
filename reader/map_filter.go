package reader

import (
	"context"
	"fmt"
)

// Filter returns a pipe of the records for which keep returns true. A [State] identifies keep by
// its name: another name makes another pipeline. An error of keep ends the pipe with the record's
// file, number and offset, unless [SkipBad] allows skipping the record.
func (p Pipe) Filter(name string, keep func(Record) (bool, error)) Pipe {
	name = fmt.Sprintf("filter(%s)", name)
	return p.then(name, func(r *run, up stage) (stage, error) {
		if keep == nil {
			return nil, fmt.Errorf("reader: %s without a function", name)
		}
		x := &filter{stage: up, run: r, name: name, keep: keep, counts: r.stats("filter")}
		r.tally(&x.bad)
		return x, nil
	})
}

// filter drops records within the blocks that pass through it; blocks keep their positions. Its own
// section is its skip count.
type filter struct {
	stage
	run    *run
	name   string
	bad    skipCount
	keep   func(Record) (bool, error)
	counts *stageStats
}

func (f *filter) start(ctx context.Context, epoch int64, at position) error {
	own, up := at.pop()
	bad := skipCount{}
	if at != nil {
		var ok bool
		if bad, ok = tallyOf(own); !ok {
			return errPosition(f.name)
		}
	}
	f.run.setTally(&f.bad, bad)
	return f.stage.start(ctx, epoch, up)
}

func (f *filter) next() (*Block, error) {
	for {
		watch := f.counts.watch()
		b, err := f.stage.next()
		watch.waited()
		if err != nil {
			return nil, err
		}
		n, bad := 0, f.bad.words()
		for _, record := range b.Records {
			keep, err := f.keep(record)
			if err != nil && f.run.passable(err) {
				keep, err = false, f.run.skipRecord(&f.bad, record, err)
			} else if err != nil {
				err = f.run.locate(record, err)
			}
			if err != nil {
				b.Release()
				return nil, err
			}
			if keep {
				b.Records[n] = record
				n++
			}
		}
		b.Records = b.Records[:n]
		b.at = b.at.push(bad[:]...)
		watch.busy()
		if n > 0 {
			f.counts.gave(b)
			return b, nil
		}
		b.Release()
	}
}
