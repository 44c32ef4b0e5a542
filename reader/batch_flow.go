package reader

import (
	"context"
	"io"
	"sync/atomic"
)

// BatchFlow describes slices of n elements of a flow. The last one may be shorter, unless
// dropRemainder drops it.
func BatchFlow[T any](f Flow[T], n int, dropRemainder bool) Flow[[]T] {
	return Flow[[]T]{func(ctx context.Context, from origin) (source[[]T], error) {
		if err := checkBatch(n); err != nil {
			return nil, err
		}
		in, err := f.begin(ctx, from)
		if err != nil {
			return nil, err
		}
		return &flowBatches[T]{in: in, n: n, drop: dropRemainder}, nil
	}}
}

// flowBatches collects elements into batches.
type flowBatches[T any] struct {
	in    source[T]
	n     int
	drop  bool
	ended error       // of in, if a batch came before it
	ahead *element[T] // of the next batch, if it belongs to another pass
	idle  idle[*flowBatch[T]]
}

// flowBatch is a batch with the elements it was made of.
type flowBatch[T any] struct {
	element[[]T]
	parts []*element[T]
}

func (s *flowBatches[T]) next() (*element[[]T], error) {
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
			b.drop()
			return nil, err
		}
		if s.in.running().set.opts.BatchWithinEpoch && len(b.parts) > 0 && e.epoch() != b.parts[0].epoch() {
			s.ahead = e
			if !s.drop {
				break
			}
			b.drop()
			b = s.batch()
			continue
		}
		b.parts = append(b.parts, e)
		b.value = append(b.value, e.value)
	}
	for _, e := range b.parts {
		if n := len(e.marks); n > 0 {
			e.marks[n-1].block.Retain()
			b.marks = append(b.marks, e.marks[n-1])
		}
	}
	return &b.element, nil
}

// element returns the next one.
func (s *flowBatches[T]) element() (*element[T], error) {
	if e := s.ahead; e != nil {
		s.ahead = nil
		return e, nil
	}
	return s.in.next()
}

func (s *flowBatches[T]) batch() *flowBatch[T] {
	if b, ok := s.idle.take(); ok {
		return b
	}
	b := &flowBatch[T]{}
	b.free = func() {
		for _, e := range b.parts {
			e.drop()
		}
		clear(b.parts)
		clear(b.value)
		b.parts, b.value = b.parts[:0], b.value[:0]
		s.idle.put(b)
	}
	return b
}

func (s *flowBatches[T]) interrupt() { s.in.interrupt() }

func (s *flowBatches[T]) nextEpoch() error {
	s.forget()
	return s.in.nextEpoch()
}

func (s *flowBatches[T]) state() State  { return s.in.state() }
func (s *flowBatches[T]) running() *run { return s.in.running() }

func (s *flowBatches[T]) close() {
	s.forget()
	s.in.close()
}

// forget drops the elements collected in the epoch.
func (s *flowBatches[T]) forget() {
	if s.ahead != nil {
		s.ahead.drop()
	}
	s.ahead, s.ended = nil, nil
}

// UnbatchFlow describes the elements of a flow of slices, one by one. If [BatchFlow] made the
// slices, a State is the one after its element; otherwise a State within a slice is the one before
// the slice, whose elements are returned again.
func UnbatchFlow[T any](f Flow[[]T]) Flow[T] {
	return Flow[T]{func(ctx context.Context, from origin) (source[T], error) {
		in, err := f.begin(ctx, from)
		if err != nil {
			return nil, err
		}
		return &unbatched[T]{in: in}, nil
	}}
}

// unbatched splits batches into elements.
type unbatched[T any] struct {
	in   source[[]T]
	now  *loose[T]
	idle idle[*loose[T]]
}

// loose is a batch split into elements.
type loose[T any] struct {
	whole    *element[[]T]
	elements []element[T]
	given    int
	left     atomic.Int32 // elements that were not dropped
	free     func()
}

func (s *unbatched[T]) next() (*element[T], error) {
	for s.now == nil {
		whole, err := s.in.next()
		if err != nil {
			return nil, err
		}
		if len(whole.value) == 0 {
			whole.drop()
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
func (s *unbatched[T]) take(whole *element[[]T]) *loose[T] {
	l, ok := s.idle.take()
	if !ok {
		l = &loose[T]{}
		l.free = func() {
			if l.left.Add(-1) == 0 {
				l.whole.drop()
				l.whole = nil
				s.idle.put(l)
			}
		}
	}
	n := len(whole.value)
	l.whole, l.given = whole, 0
	l.elements = resized(l.elements, n)
	l.left.Store(int32(n))
	for i, v := range whole.value {
		e := &l.elements[i]
		e.value, e.free = v, l.free
		m := -1
		switch {
		case len(whole.marks) == n:
			m = i
		case i == n-1:
			m = len(whole.marks) - 1
		}
		if m >= 0 {
			whole.marks[m].block.Retain()
			e.marks = append(e.marks, whole.marks[m])
		}
	}
	return l
}

func (s *unbatched[T]) interrupt() { s.in.interrupt() }

func (s *unbatched[T]) nextEpoch() error {
	if l := s.now; l != nil {
		s.now = nil
		for i := l.given; i < len(l.elements); i++ {
			l.elements[i].drop()
		}
	}
	return s.in.nextEpoch()
}

func (s *unbatched[T]) state() State  { return s.in.state() }
func (s *unbatched[T]) running() *run { return s.in.running() }
func (s *unbatched[T]) close()        { s.in.close() }
