package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/recordcount"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// fetched is a file that is read one record at a time.
type fetched struct {
	*source.Input
	file    osfile.Reader
	offsets []int64 // of all its frames, and the end of the last
}

// fetch writes the shards by reading each record from its input at the offset found by a walk over
// the frame headers. numberAt returns the number in its target of the record at a position. Shards
// are written in parallel.
func (a *arrangement) fetch(ctx context.Context, numberAt func(target int, place int64) int64) (err error) {
	splits := make([][]*fetched, len(a.Targets))
	defer func() {
		for _, files := range splits {
			for _, f := range files {
				err = errors.Join(err, f.file.Close())
			}
		}
	}()
	for _, f := range a.In.Files {
		if f.Records == 0 {
			continue
		}
		if err := inject.Fault(ctx, "open", f.Path); err != nil {
			return err
		}
		file, err := storage.Open(ctx, f.Path)
		if err != nil {
			return err
		}
		splits[f.SplitIndex] = append(splits[f.SplitIndex], &fetched{Input: f, file: osfile.NewReader(ctx, file)})
	}
	if err := a.findFrames(ctx, splits); err != nil {
		return err
	}
	s := a.In.Stream()
	a.In.Plan()
	commits := newCommits()
	workers := a.In.Workers
	err = par.Map(ctx, workers, workers,
		func(_ context.Context, give func(shardAt) error) error {
			for t := range a.Targets {
				l := a.Targets[t].Layout
				for k := range l.Shards {
					if err := give(shardAt{t, k, l.Start(k), l.Start(k + 1)}); err != nil {
						return err
					}
				}
			}
			return nil
		},
		func(ctx context.Context, at shardAt) error {
			w, err := a.openShard(at.target, at.shard)
			if err != nil {
				return err
			}
			for place := at.start; place < at.behind && err == nil; place++ {
				number := numberAt(at.target, place)
				f := fileAt(splits[at.target], number)
				err = a.fetchOne(ctx, s, f, number-f.FirstInSplit, w)
			}
			if err != nil {
				w.Abort()
				return err
			}
			return commits.add(ctx, w)
		},
		func(shardAt) error { return nil })
	return commits.wait(err)
}

// findFrames finds the frame offsets of all files.
func (a *arrangement) findFrames(ctx context.Context, splits [][]*fetched) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(a.In.Workers)
	for _, files := range splits {
		for _, f := range files {
			g.Go(func() error {
				w := recordcount.FrameWalk{
					File: f.file.File, Size: f.Size,
					O: tfrecord.ReaderOptions{Name: f.Path, MaxRecord: a.In.MaxRecord, Checksum: tfrecord.ChecksumLength},
				}
				w.Each = func(offset int64, _ int) {
					if w.At.Record < f.Records {
						f.offsets = append(f.offsets, offset)
					}
				}
				if err := w.To(ctx, f.Size); err != nil { // a file never has more records than bytes
					return shard.Damaged(err)
				}
				f.offsets = append(f.offsets, w.At.Offset)
				return f.CheckRead(w.At.Record)
			})
		}
	}
	return g.Wait()
}

// fetchOne adds one record of a file to a shard.
func (a *arrangement) fetchOne(ctx context.Context, s *source.Stream, f *fetched, number int64, w *openShard) error {
	at := f.offsets[number]
	size := int(f.offsets[number+1] - at)
	b, err := s.Get(ctx, size)
	if err != nil {
		return err
	}
	switch n, err := f.file.ReadAt(b.Buffer(size), at); {
	case n == size:
	case err == io.EOF:
		s.Put(b)
		return fmt.Errorf("%s shrank while it was read", f.Path)
	default:
		s.Put(b)
		return err
	}
	b.File, b.First, b.Offset, b.Data = f.Input, number, at, b.Buffer(size)
	b.Sizes = append(b.Sizes, size)
	return a.workInto(ctx, s, b, w)
}
