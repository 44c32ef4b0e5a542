package reader

import (
	"context"
	"fmt"
	"io"
)

// flowTake returns the first n elements of each epoch.
func flowTake[T any](f flow[T], n int64) flow[T] {
	return func(ctx context.Context, from origin) (source[T], error) {
		if n < 0 {
			return nil, fmt.Errorf("reader: Take(%d): want 0 or more; all come without it", n)
		}
		c, err := openCounted(ctx, f, from, fmt.Sprintf("take(%d)", n))
		if err != nil {
			return nil, err
		}
		return &takenElements[T]{c, n}, nil
	}
}

// flowSkip drops the first n elements of each epoch.
func flowSkip[T any](f flow[T], n int64) flow[T] {
	return func(ctx context.Context, from origin) (source[T], error) {
		if n < 0 {
			return nil, fmt.Errorf("reader: Skip(%d): want 0 or more", n)
		}
		c, err := openCounted(ctx, f, from, fmt.Sprintf("skip(%d)", n))
		if err != nil {
			return nil, err
		}
		return &skippedElements[T]{c, n}, nil
	}
}

// Indexed is an element of [Enumerate].
type Indexed[T any] struct {
	// Index is the number of the element in its epoch, from 0.
	Index int64
	Value T
}

// flowEnumerate returns elements with their numbers.
func flowEnumerate[T any](f flow[T]) flow[Indexed[T]] {
	return func(ctx context.Context, from origin) (source[Indexed[T]], error) {
		c, err := openCounted(ctx, f, from, "enumerate")
		if err != nil {
			return nil, err
		}
		return &numberedElements[T]{countedElements: c}, nil
	}
}

// countedElements is shared by stages that count the elements of the stage before. Their position
// is the count.
type countedElements[T any] struct {
	in     source[T]
	stage  flowStage
	seen   int64 // elements of in, including those dropped
	before State // of the epoch
}

func openCounted[T any](ctx context.Context, f flow[T], from origin, name string) (*countedElements[T], error) {
	in, at, err := beginStage(ctx, f, from, name, 1, 1)
	if err != nil {
		return nil, err
	}
	in.running().makes(name)
	c := &countedElements[T]{in: in, stage: flowStage{name: name}}
	if at != nil {
		c.seen = at[0]
	}
	c.before = c.stage.start(in.state(), c.seen)
	return c, nil
}

func (c *countedElements[T]) startEpoch(epoch int64) error {
	if err := c.in.startEpoch(epoch); err != nil {
		return err
	}
	c.seen = 0
	c.before = c.stage.start(c.in.state(), 0)
	return nil
}

func (c *countedElements[T]) interrupt()       { c.in.interrupt() }
func (c *countedElements[T]) state() State     { return c.before }
func (c *countedElements[T]) running() *run    { return c.in.running() }
func (c *countedElements[T]) recycle() func(T) { return c.in.recycle() }
func (c *countedElements[T]) close()           { c.in.close() }

type takenElements[T any] struct {
	*countedElements[T]
	n int64
}

func (t *takenElements[T]) next() (*element[T], error) {
	if t.seen >= t.n {
		t.in.interrupt() // nothing more is needed: stop working ahead
		return nil, io.EOF
	}
	e, err := t.in.next()
	if err != nil {
		return nil, err
	}
	t.seen++
	e.advance(&t.stage, t.seen)
	return e, nil
}

type skippedElements[T any] struct {
	*countedElements[T]
	n int64
}

func (s *skippedElements[T]) next() (*element[T], error) {
	for {
		e, err := s.in.next()
		if err != nil {
			return nil, err
		}
		if s.seen++; s.seen > s.n {
			e.advance(&s.stage, s.seen)
			return e, nil
		}
		e.drop()
	}
}

// numberedElements is a running Enumerate.
type numberedElements[T any] struct {
	*countedElements[T]
	idle idle[*numberedElement[T]]
}

func (s *numberedElements[T]) recycle() func(Indexed[T]) { return nil }

// numberedElement is an element with its number, and the marks of the element it was made of.
type numberedElement[T any] struct {
	element[Indexed[T]]
	of *element[T]
}

func (s *numberedElements[T]) next() (*element[Indexed[T]], error) {
	of, err := s.in.next()
	if err != nil {
		return nil, err
	}
	e, ok := s.idle.take()
	if !ok {
		e = &numberedElement[T]{}
		e.free = func() {
			e.of.drop()
			e.of, e.value = nil, Indexed[T]{}
			s.idle.put(e)
		}
	}
	e.of, e.value = of, Indexed[T]{s.seen, of.value}
	s.seen++
	of.advance(&s.stage, s.seen)
	e.marks, of.marks = append(e.marks, of.marks...), of.marks[:0]
	return &e.element, nil
}
