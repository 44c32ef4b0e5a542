package reader

import (
	"context"
	"fmt"
)

// Filter returns a pipe of the records that keep says to keep. Its name stands
// for it in a [State]: another name makes another pipeline. An error of keep
// ends the pipe, with the record's file, number and offset.
func (p Pipe) Filter(name string, keep func(Record) (bool, error)) Pipe {
	return p.then(fmt.Sprintf("filter(%s)", name), func(r *run, up stage) (stage, error) {
		if keep == nil {
			return nil, fmt.Errorf("reader: Filter %q without a function", name)
		}
		return &filter{stage: up, run: r, keep: keep, counts: r.stats("filter")}, nil
	})
}

// filter drops records within the blocks that pass it, which keep their places.
type filter struct {
	stage
	run    *run
	keep   func(Record) (bool, error)
	counts *stageStats
}

func (f *filter) start(ctx context.Context, epoch int64, at position) error {
	_, up := at.pop()
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
		n := 0
		for _, record := range b.Records {
			keep, err := f.keep(record)
			if err != nil {
				b.Release()
				return nil, f.run.locate(record, err)
			}
			if keep {
				b.Records[n] = record
				n++
			}
		}
		b.Records = b.Records[:n]
		b.at = b.at.push()
		watch.busy()
		if n > 0 {
			f.counts.gave(b)
			return b, nil
		}
		b.Release()
	}
}
