package reader

import (
	"io"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Stream is a running flow. Only Stats and Report are safe for concurrent use, and Close while Next waits.
type Stream[T any] struct {
	run    running[T]
	closed atomic.Bool

	mu sync.Mutex // held while run works
}

// running is a stream of records or of other elements.
type running[T any] interface {
	Next() (T, error)
	NextEpoch() error
	Pass() int64
	State() pipeline.State
	Close() error
	Running() *pipeline.Run
}

// Next returns the next element, valid until the next call; io.EOF at the end of the epoch. Any
// other error is final.
func (s *Stream[T]) Next() (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.run.Next()
	if err != nil && s.closed.Load() {
		err = stages.ErrClosed // Close ended the call
	}
	return v, err
}

// All returns the remaining elements of the epoch, each valid until the next iteration. An error
// comes with a zero T and ends the loop.
func (s *Stream[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			v, err := s.Next()
			if err == io.EOF || !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// Epoch returns the number of the epoch whose elements Next returns. With a [Flow.Repeat] it counts the
// passes over the set, as [Record].Epoch of the last record of the element that was returned last. Before the
// first one it is the pass with which the epoch begins.
func (s *Stream[T]) Epoch() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run.Pass()
}

// NextEpoch moves to the start of the next epoch, after io.EOF or earlier. Goroutines, complete
// caches, memory and tuning are kept. An incomplete [Flow.Cache] starts over. After any error other
// than io.EOF it returns that error.
func (s *Stream[T]) NextEpoch() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run.NextEpoch()
}

// State returns the state after the element that Next returned last. After an error it is the one
// after the last element returned.
func (s *Stream[T]) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run.State()
}

// Close stops everything, waits for the goroutines and closes the files. It may be called more than
// once, and while another goroutine waits in Next, which then returns an error.
func (s *Stream[T]) Close() error {
	s.closed.Store(true)
	s.run.Running().Cancel(stages.ErrClosed)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run.Close()
}

// Stats returns the counters of the stages, record sources first. It is safe for concurrent use and
// takes a microsecond or two.
func (s *Stream[T]) Stats() []StageStats { return s.run.Running().Stages() }

// Report returns Stats, the memory in flight and the bottleneck of the pipeline. It is safe for
// concurrent use.
func (s *Stream[T]) Report() Report { return s.run.Running().Report() }

// Publish publishes the Report as a variable of package expvar, which http.DefaultServeMux serves
// at /debug/vars. A pipeline published later under the same name replaces it; the name of a foreign
// variable is an error. After Close the variable keeps the final report.
func (s *Stream[T]) Publish(name string) error { return pipeline.Publish(name, s.Report) }
