package reader

import (
	"context"
	"io"
	"sync/atomic"
)

// flowSlices returns slices of n elements.
func flowSlices[T any](f flow[T], n int, dropRemainder bool) flow[[]T] {
	return func(ctx context.Context, from origin) (source[[]T], error) {
		if err := checkBatch(n); err != nil {
			return nil, err
		}
		in, err := f.begin(ctx, from)
		if err != nil {
			return nil, err
		}
		in.running().makes(batchName(n, dropRemainder))
		return &flowBatches[T]{in: in, n: n, drop: dropRemainder}, nil
	}
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

// empty drops the elements.
func (b *flowBatch[T]) empty() {
	for _, e := range b.parts {
		e.drop()
	}
	clear(b.parts)
	clear(b.value)
	b.parts, b.value = b.parts[:0], b.value[:0]
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
		if s.in.running().opts.BatchWithinEpoch && len(b.parts) > 0 && e.epoch() != b.parts[0].epoch() {
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
		b.marks = append(b.marks, e.last().retain())
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
		b.empty()
		s.idle.put(b)
	}
	return b
}

func (s *flowBatches[T]) interrupt() { s.in.interrupt() }

func (s *flowBatches[T]) startEpoch(epoch int64) error {
	s.forget()
	return s.in.startEpoch(epoch)
}

func (s *flowBatches[T]) state() State  { return s.in.state() }
func (s *flowBatches[T]) running() *run { return s.in.running() }

func (s *flowBatches[T]) recycle() func([]T) { return nil }

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

// flowUnbatch returns the elements of slices, one by one.
func flowUnbatch[T any](f flow[[]T]) flow[T] {
	return func(ctx context.Context, from origin) (source[T], error) {
		return openUnbatched(ctx, f, from)
	}
}

// unbatched splits batches into elements.
type unbatched[T any] struct {
	in   source[[]T]
	now  *loose[T]
	idle idle[*loose[T]]

	stage  flowStage // its section is given
	last   mark      // after a slice; the start of the epoch
	given  int64     // elements since last
	before State     // of the epoch
}

func openUnbatched[T any](ctx context.Context, f flow[[]T], from origin) (_ *unbatched[T], err error) {
	s := &unbatched[T]{stage: flowStage{name: "unbatch"}}
	var at []int64
	if s.in, at, err = beginStage(ctx, f, from, s.stage.name, 1, 1); err != nil {
		return nil, err
	}
	s.in.running().makes(s.stage.name)
	if err := s.resume(at); err != nil {
		s.close()
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
		e, err := s.next()
		if err == io.EOF {
			return errPosition(s.stage.name)
		}
		if err != nil {
			return err
		}
		e.drop()
	}
	return nil
}

// begin sets the state before the epoch's elements that follow the given ones.
func (s *unbatched[T]) begin(given int64) {
	before := s.in.state()
	s.last.release()
	s.last, s.given = mark{saved: &before}, 0
	s.before = s.stage.start(before, given)
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
		e.marks = append(e.marks, s.locate(whole.marks, i, n))
		if hasState[T]() {
			setMark(v, e.marks[0])
		}
	}
	return l
}

// locate returns the mark after element i of the n of a slice with the given marks, which may be one
// for each element.
func (s *unbatched[T]) locate(marks []mark, i, n int) mark {
	m := marks[len(marks)-1]
	if i == n-1 {
		s.last.release()
		s.last, s.given = m.retain(), 0
		return s.stage.after(m.retain(), 0)
	}
	if s.last.block != nil || s.last.flow != nil { // needed more than once
		before := s.last.state()
		s.last.release()
		s.last = mark{saved: &before}
	}
	if len(marks) == n {
		m = marks[i] // whose record is the element's
	}
	s.given++
	m.saved, m.flow = s.last.saved, nil
	return s.stage.after(m.retain(), s.given)
}

func (s *unbatched[T]) interrupt() { s.in.interrupt() }

func (s *unbatched[T]) startEpoch(epoch int64) error {
	s.forget()
	if err := s.in.startEpoch(epoch); err != nil {
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
			l.elements[i].drop()
		}
	}
}

func (s *unbatched[T]) state() State  { return s.before }
func (s *unbatched[T]) running() *run { return s.in.running() }

func (s *unbatched[T]) recycle() func(T) { return nil }

func (s *unbatched[T]) close() {
	s.forget()
	s.last.release()
	s.last = mark{}
	s.in.close()
}
