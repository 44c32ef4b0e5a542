package flows

import (
	"context"
	"errors"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Flow opens a pipeline of elements at its origin.
type Flow[T any] func(ctx context.Context, from pipeline.Origin) (Source[T], error)

// Begin opens the flow, if there is one.
func (f Flow[T]) Begin(ctx context.Context, from pipeline.Origin) (Source[T], error) {
	switch {
	case f == nil:
		return nil, errors.New("reader: an empty Flow: begin with Open")
	case ctx == nil:
		return nil, pipeline.ErrNoContext
	}
	return f(ctx, from)
}

// Source is a running flow. One goroutine at a time calls it, except for interrupt.
type Source[T any] interface {
	// Next returns the next element, which the caller releases with drop; io.EOF at the end of the
	// epoch.
	Next() (*Element[T], error)
	// Interrupt makes a call of next in another goroutine return soon, with an error. Only
	// StartEpoch or close may follow.
	Interrupt()
	// StartEpoch moves to the start of an epoch.
	StartEpoch(epoch int64) error
	// State returns the state before the first element of the epoch.
	State() pipeline.State
	// Running returns the Run of the pipe.
	Running() *pipeline.Run
	// Close stops all goroutines and closes all files. Elements stay valid.
	Close()
	// recycle returns the function that overwrites the memory of an element after its last use, or
	// nil if elements have no memory that is reused.
	recycle() func(T)
}

// Element is a value and the memory that it may alias.
type Element[T any] struct {
	Value T
	marks []Mark // position after each part of the value, or only after the whole
	free  func() // releases the memory; nil: nothing to release
}

// Mark is a position in a flow: after the first n records of a block, which the mark retains.
type Mark struct {
	block *pipeline.Block // nil: not known, as in a copy
	n     int
	bad   pipeline.SkipCount // skipped up to there
	saved *pipeline.State    // where to resume, if it is not there
	flow  *flowPosition      // after saved, or the stages of the pipe
}

// record returns the last record before the mark.
func (m Mark) record() pipeline.Record { return m.block.Records[m.n-1] }

func (m Mark) State() pipeline.State {
	var s pipeline.State
	if m.saved != nil {
		s = pipeline.CloneState(m.saved)
	} else {
		s = m.block.State(m.n)
		pipeline.SetSkipped(&s, m.bad)
	}
	s.Flow, s.Epoch = m.flow.appendTo(s.Flow), m.flow.outer(s.Epoch)
	return s
}

// whole returns the state with the settings of the flow.
func (m Mark) whole() pipeline.State {
	s := m.State()
	if m.block != nil {
		s.Making = m.block.Run.Made()
	}
	return s
}

// retain adds a reference to the block, and returns the mark.
func (m Mark) retain() Mark {
	if m.block != nil {
		m.block.Retain()
	}
	return m
}

func (m Mark) release() {
	if m.block != nil {
		m.block.Release()
	}
}

// Last is the position after the element.
func (e *Element[T]) Last() Mark { return e.marks[len(e.marks)-1] }

// Epoch is the epoch of the last record of the element; -1 if it is not known.
func (e *Element[T]) Epoch() int32 {
	if m := e.Last(); m.block != nil {
		return m.record().Epoch
	}
	return -1
}

func (e *Element[T]) Drop() {
	for i := range e.marks {
		e.marks[i].release()
	}
	clear(e.marks)
	e.marks = e.marks[:0]
	if e.free != nil {
		e.free()
	}
}

// clone returns a mark with the same state that holds no block.
func (m Mark) clone() Mark {
	if m.block == nil && m.saved == nil {
		return m // of a batch that no flow made
	}
	s := m.whole()
	return Mark{saved: &s}
}
