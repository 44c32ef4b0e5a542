package reader

import (
	"context"
	"errors"
	"io"
	"iter"
)

// Flow describes a pipeline whose elements are no longer records but made of
// them: batches, columns, pictures, whatever a [Map] returns. It is a value, as
// [Pipe] is: nothing is read before Start, Resume or All.
type Flow[T any] struct {
	open func(ctx context.Context, at *State) (source[T], error)
}

// begin opens the flow, when there is one.
func (f Flow[T]) begin(ctx context.Context, at *State) (source[T], error) {
	switch {
	case f.open == nil:
		return nil, errors.New("reader: a Flow of nothing: begin with Open")
	case ctx == nil:
		return nil, errNoContext
	}
	return f.open(ctx, at)
}

// source is a running flow. One goroutine at a time calls it.
type source[T any] interface {
	// next returns the next element, which the caller drops; io.EOF at the end.
	next() (*element[T], error)
	// state is that before the first element.
	state() State
	// running is what the stages of the pipe share.
	running() *run
	// close stops all goroutines and closes all files. Elements stay valid.
	close()
}

// element is a value with the memory that it may alias.
type element[T any] struct {
	value T
	marks []mark // where the pipe stands behind each part of the value; none: where it stood before
	free  func() // gives the memory back; nil: nothing to give
}

// mark is a place in a pipe: behind the first n records of a block, which the
// mark retains.
type mark struct {
	block *Block
	n     int
	bad   tally // what was passed over until there
}

func (m mark) state() State {
	s := m.block.State(m.n)
	s.setTally(m.bad)
	return s
}

func (e *element[T]) state() State { return e.marks[len(e.marks)-1].state() }

func (e *element[T]) drop() {
	for i := range e.marks {
		e.marks[i].block.Release()
	}
	clear(e.marks)
	e.marks = e.marks[:0]
	if e.free != nil {
		e.free()
	}
}

// Running is a running flow. It is not safe for concurrent use, Stats aside.
type Running[T any] struct {
	src  source[T]
	held *element[T] // what Next returned last
	last *State      // behind it, when it is no longer held
	err  error
}

// Start starts the flow at its beginning. The caller closes what it returns;
// when ctx ends, Next returns its error.
func (f Flow[T]) Start(ctx context.Context) (*Running[T], error) { return f.start(ctx, nil) }

// Resume starts the flow behind the elements that state says were received, as
// [Pipe.Resume] does. What made the elements is not in the State: the same
// functions and sizes give the same elements.
func (f Flow[T]) Resume(ctx context.Context, state State) (*Running[T], error) {
	return f.start(ctx, &state)
}

func (f Flow[T]) start(ctx context.Context, at *State) (*Running[T], error) {
	src, err := f.begin(ctx, at)
	if err != nil {
		return nil, err
	}
	return &Running[T]{src: src}, nil
}

// All returns the elements, each valid until the next turn of the loop. An
// error comes with a zero T and ends the loop. Breaking out of the loop stops
// everything.
func (f Flow[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		r, err := f.Start(ctx)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		defer r.Close()
		for {
			v, err := r.Next()
			if err == io.EOF || !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// Next returns the next element, which is valid until the next call; io.EOF at
// the end. Every other error is final, too.
func (r *Running[T]) Next() (T, error) {
	var none T
	if r.err != nil {
		return none, r.err
	}
	e, err := r.src.next()
	if err != nil {
		r.err = err
	}
	if r.held != nil {
		if err != nil || len(e.marks) == 0 {
			r.remember()
		}
		r.held.drop()
	}
	r.held = e
	if err != nil {
		r.held = nil
		return none, err
	}
	return e.value, nil
}

// remember keeps the state behind the element that is about to be dropped.
func (r *Running[T]) remember() {
	s := r.State()
	r.last = &s
}

// State returns the state behind the element that Next returned last. After an
// error it is that behind the last element without one.
func (r *Running[T]) State() State {
	switch {
	case r.held != nil && len(r.held.marks) > 0:
		return r.held.state()
	case r.last != nil:
		return *r.last
	default:
		return r.src.state()
	}
}

// Close stops everything, waits for the goroutines and closes the files. It may
// be called again.
func (r *Running[T]) Close() error {
	if r.held != nil {
		r.remember()
		r.held.drop()
		r.held = nil
	}
	if r.err != errClosed {
		r.src.close()
		r.err = errClosed
	}
	return nil
}
