package reshape

import (
	"context"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/digest"
)

// Progress counts the work that a run has done so far. Its fields may be read during the run.
type Progress struct {
	// Planned is the number of records to process; 0 while they are counted. A run that reads its
	// input twice counts each record twice.
	Planned atomic.Int64
	Done    atomic.Int64 // records processed
	Bytes   atomic.Int64 // size of the processed records, with framing
}

// eachRecord reads all records: it calls look with each record, concurrently, and then calls then
// with the results in order. Checksums have been verified.
func (in *inputs) eachRecord(ctx context.Context, workers int, look func(*record) (digest.Hash, error), then func(n int64, split int, m digest.Hash) error) error {
	return in.eachBlock(ctx, workers, look, nil, func(b *block) error {
		n := b.file.first + b.first
		for i, m := range b.marks {
			if err := then(n+int64(i), b.file.split, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachBlock is like eachRecord, but calls then once per block; the results of look are in the
// block's marks. looked is called with each block before that, concurrently and in any order. Either
// may be nil.
func (in *inputs) eachBlock(ctx context.Context, workers int, look func(*record) (digest.Hash, error), looked, then func(b *block) error) error {
	s := in.stream()
	defer s.close()
	in.plan()
	return par.Map(ctx, workers, 2*workers+2,
		func(ctx context.Context, give func(*block) error) error { return s.each(ctx, nil, give) },
		func(ctx context.Context, b *block) error {
			if err := b.check(ctx, in.MaxRecord); err != nil {
				return err
			}
			err := b.eachRecord(ctx, func(_ int, r *record) error {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				m, err := look(r)
				b.marks = append(b.marks, m)
				return err
			})
			if err == nil && looked != nil {
				err = looked(b)
			}
			return err
		},
		func(b *block) (err error) {
			if then != nil {
				err = then(b)
			}
			in.done(b)
			s.put(b)
			return err
		})
}

// plan tells Progress that all records will be processed once more.
func (in *inputs) plan() {
	if p := in.Progress; p != nil {
		p.Planned.Add(in.records())
	}
}

// done tells Progress that the records of a block have been processed.
func (in *inputs) done(b *block) {
	if p := in.Progress; p != nil {
		p.Done.Add(int64(len(b.sizes)))
		p.Bytes.Add(int64(len(b.data)))
	}
}
