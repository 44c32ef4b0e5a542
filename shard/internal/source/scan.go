package source

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

// EachRecord reads all records: it calls look with each record, concurrently, and then calls then
// with the results in order. Checksums have been verified.
func (in *Inputs) EachRecord(ctx context.Context, workers int, look func(*Record) (digest.Hash, error), then func(n int64, split int, m digest.Hash) error) error {
	return in.EachBlock(ctx, workers, look, nil, func(b *Block) error {
		n := b.File.First + b.First
		for i, m := range b.Marks {
			if err := then(n+int64(i), b.File.SplitIndex, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// EachBlock is like EachRecord, but calls then once per block; the results of look are in the
// block's Marks. looked is called with each block before that, concurrently and in any order. Either
// may be nil.
func (in *Inputs) EachBlock(ctx context.Context, workers int, look func(*Record) (digest.Hash, error), looked, then func(b *Block) error) error {
	s := in.Stream()
	defer s.Close()
	in.Plan()
	return par.Map(ctx, workers, 2*workers+2,
		func(ctx context.Context, give func(*Block) error) error { return s.Each(ctx, nil, give) },
		func(ctx context.Context, b *Block) error {
			if err := b.Check(ctx, in.MaxRecord); err != nil {
				return err
			}
			err := b.EachRecord(ctx, func(_ int, r *Record) error {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				m, err := look(r)
				b.Marks = append(b.Marks, m)
				return err
			})
			if err == nil && looked != nil {
				err = looked(b)
			}
			return err
		},
		func(b *Block) (err error) {
			if then != nil {
				err = then(b)
			}
			in.Done(b)
			s.Put(b)
			return err
		})
}

// Plan tells Progress that all records will be processed once more.
func (in *Inputs) Plan() {
	if p := in.Progress; p != nil {
		p.Planned.Add(in.Records())
	}
}

// Done tells Progress that the records of a block have been processed.
func (in *Inputs) Done(b *Block) {
	if p := in.Progress; p != nil {
		p.Done.Add(int64(len(b.Sizes)))
		p.Bytes.Add(int64(len(b.Data)))
	}
}
