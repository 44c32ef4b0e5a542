package flows

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Batch returns slices of n elements.
func Batch[T any](f Flow[T], n int, o BatchOptions) Flow[[]T] {
	return func(ctx context.Context, from pipeline.Origin) (Source[[]T], error) {
		if err := CheckBatch(n); err != nil {
			return nil, err
		}
		in, err := f.Begin(ctx, from)
		if err != nil {
			return nil, err
		}
		in.Running().Makes(o.name(n))
		return &flowBatches[T]{in: in, n: n, drop: o.DropRemainder}, nil
	}
}

// flowBatches collects elements into batches.
type flowBatches[T any] struct {
	in    Source[T]
	n     int
	drop  bool
	ended error       // of in, if a batch came before it
	ahead *Element[T] // of the next batch, if it belongs to another pass
	idle  idle[*flowBatch[T]]
}

// flowBatch is a batch with its original elements.
type flowBatch[T any] struct {
	Element[[]T]
	parts []*Element[T]
}

// empty drops the elements.
func (b *flowBatch[T]) empty() {
	for _, e := range b.parts {
		e.Drop()
	}
	clear(b.parts)
	clear(b.Value)
	b.parts, b.Value = b.parts[:0], b.Value[:0]
}

func (s *flowBatches[T]) Next() (*Element[[]T], error) {
	if s.ended != nil {
		return nil, s.ended
	}
	b := s.batch()
	for len(b.parts) < s.n {
		e, err := s.element()
		if err == io.EOF && len(b.parts) > 0 && !s.drop {
			s.ended = err
			break
		}
		if err != nil {
			b.Drop()
			return nil, err
		}
		if s.in.Running().Opts.BatchWithinEpoch && len(b.parts) > 0 && e.Epoch() != b.parts[0].Epoch() {
			s.ahead = e
			if !s.drop {
				break
			}
			b.Drop()
			b = s.batch()
			continue
		}
		b.parts = append(b.parts, e)
		b.Value = append(b.Value, e.Value)
	}
	for _, e := range b.parts {
		b.marks = append(b.marks, e.Last().retain())
	}
	return &b.Element, nil
}

// element returns the next one.
func (s *flowBatches[T]) element() (*Element[T], error) {
	if e := s.ahead; e != nil {
		s.ahead = nil
		return e, nil
	}
	return s.in.Next()
}

func (s *flowBatches[T]) batch() *flowBatch[T] {
	if b, ok := s.idle.take(); ok {
		return b
	}
	b := &flowBatch[T]{}
	b.free = func() {
		b.empty()
		s.idle.put(b)
	}
	return b
}

func (s *flowBatches[T]) Interrupt() { s.in.Interrupt() }

func (s *flowBatches[T]) StartEpoch(epoch int64) error {
	s.forget()
	return s.in.StartEpoch(epoch)
}

func (s *flowBatches[T]) State() pipeline.State  { return s.in.State() }
func (s *flowBatches[T]) Running() *pipeline.Run { return s.in.Running() }

func (s *flowBatches[T]) recycle() func([]T) { return nil }

func (s *flowBatches[T]) Close() {
	s.forget()
	s.in.Close()
}

// forget drops the elements collected in the epoch.
func (s *flowBatches[T]) forget() {
	if s.ahead != nil {
		s.ahead.Drop()
	}
	s.ahead, s.ended = nil, nil
}

// Unbatch returns the elements of slices, one by one.
func Unbatch[T any](f Flow[[]T]) Flow[T] {
	return func(ctx context.Context, from pipeline.Origin) (Source[T], error) {
		return openUnbatched(ctx, f, from)
	}
}

// unbatched splits batches into elements.
type unbatched[T any] struct {
	in   Source[[]T]
	now  *loose[T]
	idle idle[*loose[T]]

	stage  flowStage      // its section is given
	last   Mark           // after a slice; the start of the epoch
	given  int64          // elements since last
	before pipeline.State // of the epoch
}

func openUnbatched[T any](ctx context.Context, f Flow[[]T], from pipeline.Origin) (_ *unbatched[T], err error) {
	s := &unbatched[T]{stage: flowStage{name: "unbatch"}}
	var at []int64
	if s.in, at, err = beginStage(ctx, f, from, s.stage.name, 1, 1); err != nil {
		return nil, err
	}
	s.in.Running().Makes(s.stage.name)
	if err := s.resume(at); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// resume drops what was given of the first slices.
func (s *unbatched[T]) resume(at []int64) error {
	if at == nil {
		at = []int64{0}
	}
	s.begin(at[0])
	for range at[0] {
		e, err := s.Next()
		if err == io.EOF {
			return pipeline.ErrPosition(s.stage.name)
		}
		if err != nil {
			return err
		}
		e.Drop()
	}
	return nil
}

// begin sets the state before the epoch's elements that follow the given ones.
func (s *unbatched[T]) begin(given int64) {
	before := s.in.State()
	s.last.release()
	s.last, s.given = Mark{saved: &before}, 0
	s.before = s.stage.start(before, given)
}

// loose is a batch split into elements.
type loose[T any] struct {
	whole    *Element[[]T]
	elements []Element[T]
	given    int
	left     atomic.Int32 // elements that were not dropped
	free     func()
}

func (s *unbatched[T]) Next() (*Element[T], error) {
	for s.now == nil {
		whole, err := s.in.Next()
		if err != nil {
			return nil, err
		}
		if len(whole.Value) == 0 {
			whole.Drop()
			continue
		}
		s.now = s.take(whole)
	}
	l := s.now
	e := &l.elements[l.given]
	l.given++
	if l.given == len(l.elements) {
		s.now = nil
	}
	return e, nil
}

// take splits a batch.
func (s *unbatched[T]) take(whole *Element[[]T]) *loose[T] {
	l, ok := s.idle.take()
	if !ok {
		l = &loose[T]{}
		l.free = func() {
			if l.left.Add(-1) == 0 {
				l.whole.Drop()
				l.whole = nil
				s.idle.put(l)
			}
		}
	}
	n := len(whole.Value)
	l.whole, l.given = whole, 0
	l.elements = Resized(l.elements, n)
	l.left.Store(int32(n))
	for i, v := range whole.Value {
		e := &l.elements[i]
		e.Value, e.free = v, l.free
		e.marks = append(e.marks, s.locate(whole.marks, i, n))
		if hasState[T]() {
			setMark(v, e.marks[0])
		}
	}
	return l
}

// locate returns the mark after element i of the n of a slice with the given marks, which may be one
// for each element.
func (s *unbatched[T]) locate(marks []Mark, i, n int) Mark {
	m := marks[len(marks)-1]
	if i == n-1 {
		s.last.release()
		s.last, s.given = m.retain(), 0
		return s.stage.after(m.retain(), 0)
	}
	if s.last.block != nil || s.last.flow != nil { // needed more than once
		before := s.last.State()
		s.last.release()
		s.last = Mark{saved: &before}
	}
	if len(marks) == n {
		m = marks[i] // whose record is the element's
	}
	s.given++
	m.saved, m.flow = s.last.saved, nil
	return s.stage.after(m.retain(), s.given)
}

func (s *unbatched[T]) Interrupt() { s.in.Interrupt() }

func (s *unbatched[T]) StartEpoch(epoch int64) error {
	s.forget()
	if err := s.in.StartEpoch(epoch); err != nil {
		return err
	}
	s.begin(0)
	return nil
}

// forget drops the elements of a slice that were not given.
func (s *unbatched[T]) forget() {
	if l := s.now; l != nil {
		s.now = nil
		for i := l.given; i < len(l.elements); i++ {
			l.elements[i].Drop()
		}
	}
}

func (s *unbatched[T]) State() pipeline.State  { return s.before }
func (s *unbatched[T]) Running() *pipeline.Run { return s.in.Running() }

func (s *unbatched[T]) recycle() func(T) { return nil }

func (s *unbatched[T]) Close() {
	s.forget()
	s.last.release()
	s.last = Mark{}
	s.in.Close()
}
