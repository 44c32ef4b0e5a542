package flows

import (
	"context"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Take returns the first n elements of each epoch.
func Take[T any](f Flow[T], n int64) Flow[T] {
	return func(ctx context.Context, from pipeline.Origin) (Source[T], error) {
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

// Skip drops the first n elements of each epoch.
func Skip[T any](f Flow[T], n int64) Flow[T] {
	return func(ctx context.Context, from pipeline.Origin) (Source[T], error) {
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

// Enumerate returns elements with their numbers.
func Enumerate[T any](f Flow[T]) Flow[Indexed[T]] {
	return func(ctx context.Context, from pipeline.Origin) (Source[Indexed[T]], error) {
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
	in     Source[T]
	stage  flowStage
	seen   int64          // elements of in, including those dropped
	before pipeline.State // of the epoch
}

func openCounted[T any](ctx context.Context, f Flow[T], from pipeline.Origin, name string) (*countedElements[T], error) {
	in, at, err := beginStage(ctx, f, from, name, 1, 1)
	if err != nil {
		return nil, err
	}
	in.Running().Makes(name)
	c := &countedElements[T]{in: in, stage: flowStage{name: name}}
	if at != nil {
		c.seen = at[0]
	}
	c.before = c.stage.start(in.State(), c.seen)
	return c, nil
}

func (c *countedElements[T]) StartEpoch(epoch int64) error {
	if err := c.in.StartEpoch(epoch); err != nil {
		return err
	}
	c.seen = 0
	c.before = c.stage.start(c.in.State(), 0)
	return nil
}

func (c *countedElements[T]) Interrupt()             { c.in.Interrupt() }
func (c *countedElements[T]) State() pipeline.State  { return c.before }
func (c *countedElements[T]) Running() *pipeline.Run { return c.in.Running() }
func (c *countedElements[T]) recycle() func(T)       { return c.in.recycle() }
func (c *countedElements[T]) Close()                 { c.in.Close() }

type takenElements[T any] struct {
	*countedElements[T]
	n int64
}

func (t *takenElements[T]) Next() (*Element[T], error) {
	if t.seen >= t.n {
		t.in.Interrupt() // nothing more is needed: stop working ahead
		return nil, io.EOF
	}
	e, err := t.in.Next()
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

func (s *skippedElements[T]) Next() (*Element[T], error) {
	for {
		e, err := s.in.Next()
		if err != nil {
			return nil, err
		}
		if s.seen++; s.seen > s.n {
			e.advance(&s.stage, s.seen)
			return e, nil
		}
		e.Drop()
	}
}

// numberedElements is a running Enumerate.
type numberedElements[T any] struct {
	*countedElements[T]
	idle idle[*numberedElement[T]]
}

func (s *numberedElements[T]) recycle() func(Indexed[T]) { return nil }

// numberedElement is an element with its number, and the marks of the original element.
type numberedElement[T any] struct {
	Element[Indexed[T]]
	of *Element[T]
}

func (s *numberedElements[T]) Next() (*Element[Indexed[T]], error) {
	of, err := s.in.Next()
	if err != nil {
		return nil, err
	}
	e, ok := s.idle.take()
	if !ok {
		e = &numberedElement[T]{}
		e.free = func() {
			e.of.Drop()
			e.of, e.Value = nil, Indexed[T]{}
			s.idle.put(e)
		}
	}
	e.of, e.Value = of, Indexed[T]{s.seen, of.Value}
	s.seen++
	of.advance(&s.stage, s.seen)
	e.marks, of.marks = append(e.marks, of.marks...), of.marks[:0]
	return &e.Element, nil
}
