package flows

import (
	"context"
	"io"
	"runtime/trace"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Stream returns the values of a running flow. Only Running is safe for concurrent use.
type Stream[T any] struct {
	src   Source[T]
	epoch int64
	pass  int64           // see Pass
	held  *Element[T]     // last result of Next
	last  *pipeline.State // after it, once it is released
	err   error
}

// Start starts the flow at its origin.
func (f Flow[T]) Start(ctx context.Context, from pipeline.Origin) (*Stream[T], error) {
	src, err := f.Begin(ctx, from)
	if err != nil {
		return nil, err
	}
	s := &Stream[T]{src: src, epoch: from.Epoch}
	if from.State != nil {
		if err := src.Running().SameMaking(from.State); err != nil {
			src.Close()
			return nil, err
		}
		s.epoch = from.State.Epoch
	}
	s.pass = src.Running().FirstPass(s.epoch)
	return s, nil
}

// Pass returns how often the set had been read before the last record of the value returned last.
// Before the first value, it is the pass with which the epoch begins.
func (s *Stream[T]) Pass() int64 { return s.pass }

// NextEpoch moves to the start of the next epoch, after io.EOF or earlier. After any error other than
// io.EOF it returns that error.
func (s *Stream[T]) NextEpoch() error {
	if s.err != nil && s.err != io.EOF {
		return s.err
	}
	if s.held != nil {
		s.held.Drop()
		s.held = nil
	}
	s.last = nil
	if s.err = s.src.StartEpoch(s.epoch + 1); s.err == nil {
		s.epoch++
		s.pass = s.src.Running().FirstPass(s.epoch)
	}
	return s.err
}

// Next returns the next value, valid until the next call; io.EOF at the end of the epoch. Any other
// error is final.
func (s *Stream[T]) Next() (T, error) {
	var none T
	if s.err != nil {
		return none, s.err
	}
	e, err := s.take()
	if err != nil {
		s.err = err
	}
	if s.held != nil {
		if err != nil {
			s.remember()
		}
		s.held.Drop()
	}
	s.held = e
	if err != nil {
		s.held = nil
		return none, err
	}
	if pass := e.Epoch(); pass >= 0 {
		s.pass = int64(pass)
	}
	return e.Value, nil
}

// take returns the next element of the source, in a region of the execution trace.
func (s *Stream[T]) take() (*Element[T], error) {
	if trace.IsEnabled() {
		defer trace.StartRegion(s.src.Running().Ctx, pipeline.TracePrefix+"next").End()
	}
	return s.src.Next()
}

// remember saves the state after the element that is about to be released.
func (s *Stream[T]) remember() {
	state := s.State()
	s.last = &state
}

// State returns the state after the value that Next returned last. After an error it is the one after
// the last value returned.
func (s *Stream[T]) State() pipeline.State {
	var state pipeline.State
	switch {
	case s.held != nil:
		state = s.held.Last().State()
	case s.last != nil:
		return pipeline.CloneState(s.last)
	default:
		state = s.src.State()
	}
	state.Making = s.src.Running().Made()
	return state
}

// Close stops everything, waits for the goroutines and closes the files. It may be called more than
// once.
func (s *Stream[T]) Close() error {
	if s.held != nil {
		s.remember()
		s.held.Drop()
		s.held = nil
	}
	if s.err != stages.ErrClosed {
		s.src.Close()
		s.err = stages.ErrClosed
	}
	return nil
}

// Running returns the Run that the stages share.
func (s *Stream[T]) Running() *pipeline.Run { return s.src.Running() }
