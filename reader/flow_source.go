package reader

import (
	"context"
	"errors"
)

// flow opens a pipeline of elements at its origin.
type flow[T any] func(ctx context.Context, from origin) (source[T], error)

// begin opens the flow, if there is one.
func (f flow[T]) begin(ctx context.Context, from origin) (source[T], error) {
	switch {
	case f == nil:
		return nil, errors.New("reader: an empty Flow: begin with Open")
	case ctx == nil:
		return nil, errNoContext
	}
	return f(ctx, from)
}

// source is a running flow. One goroutine at a time calls it, except for interrupt.
type source[T any] interface {
	// next returns the next element, which the caller releases with drop; io.EOF at the end of the
	// epoch.
	next() (*element[T], error)
	// interrupt makes a call of next in another goroutine return soon, with an error. Only
	// startEpoch or close may follow.
	interrupt()
	// startEpoch moves to the start of an epoch.
	startEpoch(epoch int64) error
	// state returns the state before the first element of the epoch.
	state() State
	// running returns what the stages of the pipe share.
	running() *run
	// close stops all goroutines and closes all files. Elements stay valid.
	close()
	// recycle returns what overwrites the memory of an element that is no longer valid; nil: elements
	// have no memory that others use again.
	recycle() func(T)
}

// element is a value and the memory that it may alias.
type element[T any] struct {
	value T
	marks []mark // position after each part of the value, or only after the whole
	free  func() // releases the memory; nil: nothing to release
}

// mark is a position in a flow: after the first n records of a block, which the mark retains.
type mark struct {
	block *recordBlock // nil: not known, as in a copy
	n     int
	bad   skipCount     // skipped up to there
	saved *State        // where to resume, if it is not there
	flow  *flowPosition // after saved, or the stages of the pipe
}

// record returns the last record before the mark.
func (m mark) record() Record { return m.block.Records[m.n-1] }

func (m mark) state() State {
	var s State
	if m.saved != nil {
		s = cloneState(m.saved)
	} else {
		s = m.block.State(m.n)
		setSkipped(&s, m.bad)
	}
	s.Flow = m.flow.appendTo(s.Flow)
	return s
}

// whole returns the state with the settings of the flow.
func (m mark) whole() State {
	s := m.state()
	if m.block != nil {
		s.Making = m.block.run.made()
	}
	return s
}

// retain adds a reference to the block, and returns the mark.
func (m mark) retain() mark {
	if m.block != nil {
		m.block.Retain()
	}
	return m
}

func (m mark) release() {
	if m.block != nil {
		m.block.Release()
	}
}

// last is the position after the element.
func (e *element[T]) last() mark { return e.marks[len(e.marks)-1] }

// epoch is the epoch of the last record of the element; -1 if it is not known.
func (e *element[T]) epoch() int32 {
	if m := e.last(); m.block != nil {
		return m.record().Epoch
	}
	return -1
}

func (e *element[T]) drop() {
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
func (m mark) clone() mark {
	if m.block == nil && m.saved == nil {
		return m // of a batch that no flow made
	}
	s := m.whole()
	return mark{saved: &s}
}
