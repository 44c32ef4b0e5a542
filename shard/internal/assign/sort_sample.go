package assign

import (
	"context"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// leastProbes is the minimum number of probes per bucket: in inputs that are nearly sorted already,
// the records at a mark have similar values.
const leastProbes = 4

// maxProbe is the number of bytes read at a mark. maxProbed is the average record size up to which
// they contain enough records.
const (
	maxProbe  = 64 << 10
	maxProbed = 4 << 10
)

// probe samples a few records at each of the marks that counting left in the files, instead of
// reading all of them. It returns false for too few marks, or records at them. It leaves out
// unreadable records, which are reported when all are read.
func (s *Sorted) probe(ctx context.Context, a Assignment, buckets int) (sample []CutPoint, ok bool, err error) {
	marks := 0
	for _, f := range a.In.Files {
		if f.Compression != tfrecord.CompressionNone || f.Size > 0 && len(f.Marks) == 0 || storage.Remote(f.Path) {
			return nil, false, nil
		}
		marks += len(f.Marks)
	}
	if a.Log != nil || marks < leastProbes*buckets || a.In.Unpacked()/a.In.Records() > maxProbed {
		return nil, false, nil
	}
	each := (buckets*sampledPerBucket + marks - 1) / marks
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(a.In.Workers)
	for _, f := range a.In.Files {
		g.Go(func() error {
			points, err := s.probeFile(ctx, a, f, each)
			mu.Lock()
			defer mu.Unlock()
			sample = append(sample, points...)
			return err
		})
	}
	err = g.Wait()
	return sample, len(sample) >= buckets*sampledPerBucket/2, err
}

// probeFile samples up to each records at each mark of a file.
func (s *Sorted) probeFile(ctx context.Context, a Assignment, f *source.Input, each int) (points []CutPoint, err error) {
	opened, err := storage.Open(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	file := osfile.NewReader(ctx, opened)
	framing := tfrecord.Framing{MaxRecord: a.In.MaxRecord}
	window := make([]byte, maxProbe)
	for _, mark := range f.Marks {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		n, err := file.ReadAt(window, mark.Offset)
		if err != nil && err != io.EOF {
			return nil, err
		}
		b := source.Block{File: f, First: mark.Record, Offset: mark.Offset}
		for at := 0; len(b.Sizes) < each; {
			size, v := framing.Check(window[at:n])
			if v != tfrecord.FrameWhole {
				break
			}
			b.Sizes = append(b.Sizes, size)
			at += size
			b.Data = window[:at]
		}
		_ = b.EachRecord(ctx, func(i int, rec *source.Record) error {
			v, err := s.valueOf(rec)
			if err == nil {
				key := v.append(AppendTarget(nil, b.Target(i)))
				points = append(points, newCutPoint(key, rec))
			}
			return nil
		})
	}
	return points, nil
}
