package reader

import (
	"context"
	"io"
	"iter"
	"runtime/trace"

	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Flow describes a pipeline whose elements are made from records: batches, columns, images, or any
// result of [Map]. Like [Pipe] it is a value: nothing is read before Start, Resume or All.
type Flow[T any] struct{ open flows.Flow[T] }

// Stream is a running flow. Only Stats and Report are safe for concurrent use.
type Stream[T any] struct {
	src   flows.Source[T]
	epoch int64
	pass  int64             // see Epoch
	held  *flows.Element[T] // last result of Next
	last  *State            // after it, once it is released
	err   error
}

// Start starts the flow at the beginning of epoch 0. The caller must Close the result; when ctx
// ends, Next returns its error.
func (f Flow[T]) Start(ctx context.Context) (*Stream[T], error) { return f.StartEpoch(ctx, 0) }

// StartEpoch starts the flow at the beginning of an epoch, as [Pipe.StartEpoch]
// does. [Stream.NextEpoch] continues with the next one in the same run.
func (f Flow[T]) StartEpoch(ctx context.Context, epoch int64) (*Stream[T], error) {
	return f.start(ctx, pipeline.Origin{Epoch: epoch})
}

// Resume starts the flow after the elements that state records as received, like [Pipe.Resume]. A
// State of a flow with other stages or settings, such as other sizes of batches, is refused with
// [ErrState]. The functions that make the elements are not in the State: the same functions give the
// same elements.
func (f Flow[T]) Resume(ctx context.Context, state State) (*Stream[T], error) {
	return f.start(ctx, pipeline.Origin{State: &state})
}

func (f Flow[T]) start(ctx context.Context, from pipeline.Origin) (*Stream[T], error) {
	src, err := f.open.Begin(ctx, from)
	if err != nil {
		return nil, err
	}
	r := &Stream[T]{src: src, epoch: from.Epoch}
	if from.State != nil {
		if err := src.Running().SameMaking(from.State); err != nil {
			src.Close()
			return nil, err
		}
		r.epoch = from.State.Epoch
	}
	r.pass = src.Running().FirstPass(r.epoch)
	return r, nil
}

// All returns the elements of epoch 0, each valid until the next iteration. An error comes with a
// zero T and ends the loop. Breaking out of the loop stops everything. To loop over several epochs,
// add [Pipe.Repeat] or use [Stream.All] and [Stream.NextEpoch]: All starts with epoch 0 each
// time.
func (f Flow[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		r, err := f.Start(ctx)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		defer r.Close()
		r.All()(yield)
	}
}

// All returns the remaining elements of the epoch, each valid until the next iteration. An error
// comes with a zero T and ends the loop.
func (r *Stream[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			v, err := r.Next()
			if err == io.EOF || !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// Epoch returns the number of the epoch whose elements Next returns. With a [Pipe.Repeat] it counts the
// passes over the set, as [Record].Epoch of the last record of the element that was returned last. Before the
// first one it is the pass with which the epoch begins.
func (r *Stream[T]) Epoch() int64 { return r.pass }

// NextEpoch moves to the start of the next epoch, after io.EOF or earlier. Goroutines, complete
// caches, memory and tuning are kept. An incomplete [Pipe.Cache] or [Flow.Cache] starts over. After
// any error other than io.EOF it returns that error.
func (r *Stream[T]) NextEpoch() error {
	if r.err != nil && r.err != io.EOF {
		return r.err
	}
	if r.held != nil {
		r.held.Drop()
		r.held = nil
	}
	r.last = nil
	if r.err = r.src.StartEpoch(r.epoch + 1); r.err == nil {
		r.epoch++
		r.pass = r.src.Running().FirstPass(r.epoch)
	}
	return r.err
}

// Next returns the next element, valid until the next call; io.EOF at the end of the epoch. Any
// other error is final.
func (r *Stream[T]) Next() (T, error) {
	var none T
	if r.err != nil {
		return none, r.err
	}
	e, err := r.take()
	if err != nil {
		r.err = err
	}
	if r.held != nil {
		if err != nil {
			r.remember()
		}
		r.held.Drop()
	}
	r.held = e
	if err != nil {
		r.held = nil
		return none, err
	}
	if pass := e.Epoch(); pass >= 0 {
		r.pass = int64(pass)
	}
	return e.Value, nil
}

// take returns the next element of the source, in a region of the execution trace.
func (r *Stream[T]) take() (*flows.Element[T], error) {
	if trace.IsEnabled() {
		defer trace.StartRegion(r.src.Running().Ctx, pipeline.TracePrefix+"next").End()
	}
	return r.src.Next()
}

// remember saves the state after the element that is about to be released.
func (r *Stream[T]) remember() {
	s := r.State()
	r.last = &s
}

// State returns the state after the element that Next returned last. After an error it is the one
// after the last element returned.
func (r *Stream[T]) State() State {
	var s State
	switch {
	case r.held != nil:
		s = r.held.Last().State()
	case r.last != nil:
		return pipeline.CloneState(r.last)
	default:
		s = r.src.State()
	}
	s.Making = r.src.Running().Made()
	return s
}

// Close stops everything, waits for the goroutines and closes the files. It may be called more than
// once.
func (r *Stream[T]) Close() error {
	if r.held != nil {
		r.remember()
		r.held.Drop()
		r.held = nil
	}
	if r.err != stages.ErrClosed {
		r.src.Close()
		r.err = stages.ErrClosed
	}
	return nil
}

// Stats returns the counters of the stages, record sources first. It is safe for concurrent use and
// takes a microsecond or two.
func (r *Stream[T]) Stats() []StageStats { return r.src.Running().Stages() }

// Report returns Stats, the memory in flight and the bottleneck of the pipeline. It is safe for
// concurrent use.
func (r *Stream[T]) Report() Report { return r.src.Running().Report() }

// Publish publishes the Report as a variable of package expvar, as
// [RecordStream.Publish] does.
func (r *Stream[T]) Publish(name string) error { return pipeline.Publish(name, r.src.Running().Report) }
