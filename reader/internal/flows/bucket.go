package flows

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// BucketOptions are the options of [BucketByLength].
type BucketOptions struct {
	// Boundaries between the buckets, ascending: bucket i has the lengths from Boundaries[i-1] to
	// Boundaries[i] - 1, the first one all below, and the last one all from the last boundary on.
	Boundaries []int
	// BatchSizes are the numbers of elements in a batch of each bucket: one more than Boundaries.
	BatchSizes []int
	// DropRemainder drops the smaller batches at the end of an epoch.
	DropRemainder bool
}

// BucketByLength returns batches of elements of similar length.
func BucketByLength[T any](f Flow[T], length func(T) int, o BucketOptions) Flow[[]T] {
	o.Boundaries, o.BatchSizes = slices.Clone(o.Boundaries), slices.Clone(o.BatchSizes)
	return func(ctx context.Context, from pipeline.Origin) (Source[[]T], error) {
		if length == nil {
			return nil, errors.New("reader: BucketByLength needs a function")
		}
		if err := o.check(); err != nil {
			return nil, err
		}
		words := 1 + len(o.BatchSizes)
		in, at, err := beginStage(ctx, f, from, o.name(), words, words)
		if err != nil {
			return nil, err
		}
		in.Running().Makes(o.name())
		in.Running().Calls = true
		b := &bucketed[T]{length: length, BucketOptions: o, buckets: make([]bucket[T], len(o.BatchSizes))}
		b.replayed = replayed[T]{
			in: in, stage: flowStage{name: o.name()}, stats: in.Running().Stats("bucket"),
			fill: b.fill, within: in.Running().Opts.BatchWithinEpoch,
		}
		if err := b.resume(at); err != nil {
			b.Close()
			return nil, err
		}
		return b, nil
	}
}

// MaxBuckets bounds the length of a State.
const MaxBuckets = 1 << 10

func (o *BucketOptions) check() error {
	switch n := len(o.Boundaries); {
	case n < 1 || n >= MaxBuckets:
		return fmt.Errorf("reader: BucketByLength with %d Boundaries: want 1 to %d", n, MaxBuckets-1)
	case len(o.BatchSizes) != n+1:
		return fmt.Errorf("reader: BucketByLength with %d Boundaries and %d BatchSizes: want %d", n, len(o.BatchSizes), n+1)
	}
	for i, n := range o.Boundaries[1:] {
		if n <= o.Boundaries[i] {
			return fmt.Errorf("reader: BucketByLength: boundary %d follows %d: want ascending numbers", n, o.Boundaries[i])
		}
	}
	for _, n := range o.BatchSizes {
		if err := CheckBatch(n); err != nil {
			return err
		}
	}
	return nil
}

// name identifies the stage in a State.
func (o *BucketOptions) name() string {
	name := fmt.Sprintf("bucket_by_length(boundaries=%d,batches=%d", o.Boundaries, o.BatchSizes)
	if o.DropRemainder {
		name += ",drop"
	}
	return name + ")"
}

// bucketed is a running BucketByLength.
type bucketed[T any] struct {
	replayed[T]
	BucketOptions
	length  func(T) int
	buckets []bucket[T]
	resting bool // at the end of a pass: the rests of the buckets are given,
	rest    int  // this one's next
	idle    idle[*flowBatch[T]]
}

func (b *bucketed[T]) recycle() func([]T) { return nil }

// bucket holds the elements of the next batch of some lengths.
type bucket[T any] struct {
	parts  []*Element[T]
	before int     // elements before the position that was resumed: they only count
	anchor *anchor // before its first element
}

func (b *bucket[T]) len() int { return b.before + len(b.parts) }

func (x *bucketed[T]) fill(dst []int64) []int64 {
	for i := range x.buckets {
		dst = append(dst, int64(x.buckets[i].len()))
	}
	return dst
}

func (x *bucketed[T]) resume(at []int64) error {
	x.begin(at)
	if at == nil {
		return nil
	}
	for i, n := range at[1:] {
		if n >= int64(x.BatchSizes[i]) {
			return pipeline.ErrPosition(x.stage.name)
		}
		x.buckets[i].before = int(n)
	}
	if err := replay(&x.replayed, x, at[0]); err != nil {
		return err
	}
	for i := range x.buckets {
		if x.buckets[i].before > 0 {
			return pipeline.ErrPosition(x.stage.name)
		}
	}
	return nil
}

func (x *bucketed[T]) Next() (*Element[[]T], error) {
	for {
		for x.resting && x.rest < len(x.buckets) {
			b := &x.buckets[x.rest]
			x.rest++
			if b.len() > 0 && !x.DropRemainder {
				return x.give(b), nil
			}
			b.drop()
		}
		x.resting = false
		e, err := x.receive()
		if err != nil {
			return nil, err
		}
		if e == nil {
			x.rest, x.resting = 0, true
			continue
		}
		i := x.bucket(x.length(e.Value))
		b := &x.buckets[i]
		if b.len() == 0 {
			b.anchor = x.anchor()
		}
		x.arrived(e)
		b.parts = append(b.parts, e)
		if b.len() == x.BatchSizes[i] {
			return x.give(b), nil
		}
	}
}

// bucket returns the number of the bucket of a length.
func (x *bucketed[T]) bucket(length int) int {
	i, found := slices.BinarySearch(x.Boundaries, length)
	if found {
		i++
	}
	return i
}

// give makes a batch of a bucket.
func (x *bucketed[T]) give(b *bucket[T]) *Element[[]T] {
	out, ok := x.idle.take()
	if !ok {
		out = &flowBatch[T]{}
		out.free = func() {
			out.empty()
			x.idle.put(out)
		}
	}
	out.parts, b.parts = b.parts, out.parts
	b.before, b.anchor = 0, nil
	for _, e := range out.parts {
		out.Value = append(out.Value, e.Value)
	}
	var oldest *anchor
	for i := range x.buckets {
		if a := x.buckets[i].anchor; a != nil && (oldest == nil || a.came < oldest.came) {
			oldest = a
		}
	}
	out.marks = append(out.marks, x.mark(oldest))
	x.stats.Elements.Add(1)
	return &out.Element
}

// drop empties the bucket.
func (b *bucket[T]) drop() {
	for _, e := range b.parts {
		e.Drop()
	}
	clear(b.parts)
	b.parts, b.before, b.anchor = b.parts[:0], 0, nil
}

// reset drops the held elements.
func (x *bucketed[T]) reset() {
	x.forget()
	for i := range x.buckets {
		x.buckets[i].drop()
	}
	x.resting = false
}

func (x *bucketed[T]) StartEpoch(epoch int64) error {
	x.reset()
	if err := x.in.StartEpoch(epoch); err != nil {
		return err
	}
	x.begin(nil)
	return nil
}

func (x *bucketed[T]) Close() {
	x.reset()
	x.end()
}
