package flows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Repeat returns the elements of f n times, or forever if n is -1.
func Repeat[T any](f Flow[T], n int) Flow[T] {
	name := fmt.Sprintf("repeat(%d)", max(n, -1))
	return func(ctx context.Context, from pipeline.Origin) (Source[T], error) {
		if n < -1 {
			return nil, fmt.Errorf("reader: Repeat(%d): want 0 or more, or -1 for ever", n)
		}
		r := &repeated[T]{stage: flowStage{name: name}, times: int64(n)}
		at, err := popOrigin(&from, name, 1, 1)
		if err != nil {
			return nil, err
		}
		first := from.Epoch
		if at != nil {
			if n >= 0 && at[0] > int64(n) {
				return nil, pipeline.ErrPosition(name)
			}
			first, r.done = from.State.Epoch, at[0]
		}
		if err := pipeline.CheckEpoch(first); err != nil {
			return nil, err
		}
		if from.Epoch = r.pass(first); at != nil {
			from.State.Epoch = from.Epoch
		}
		if r.in, err = beginBefore(ctx, f, from, name); err != nil {
			return nil, err
		}
		run := r.in.Running()
		run.Makes(name)
		run.Passes *= max(r.times, 1)
		r.begin(first)
		r.empty = from.State == nil
		return r, nil
	}
}

// repeated is a running Repeat. Its position is the number of passes that are over.
type repeated[T any] struct {
	in    Source[T]
	stage flowStage
	times int64 // below 0: forever

	epoch  int64
	done   int64
	empty  bool // the current pass has had no elements so far
	before pipeline.State

	mu   sync.Mutex // held while a pass starts: Interrupt comes before or after that
	left bool       // the epoch was interrupted
}

// pass returns the epoch of the flow before that the current pass is.
func (r *repeated[T]) pass(epoch int64) int64 { return epoch*max(r.times, 1) + r.done }

// begin makes an epoch the current one. The flow before has started.
func (r *repeated[T]) begin(epoch int64) {
	r.epoch, r.empty = epoch, true
	start := r.in.State()
	start.Epoch = epoch
	r.before = r.stage.start(start, r.done)
}

var errLeft = errors.New("reader: the epoch was left")

func (r *repeated[T]) Next() (*Element[T], error) {
	for {
		if r.done == r.times {
			return nil, io.EOF
		}
		e, err := r.in.Next()
		if err == nil {
			r.empty = false
			e.advance(&r.stage, r.done)
			e.ofEpoch(r.epoch)
			return e, nil
		}
		if err != io.EOF || r.empty {
			return nil, err
		}
		if r.done++; r.done == r.times {
			return nil, io.EOF
		}
		r.empty = true
		if err := r.startPass(r.epoch); err != nil {
			return nil, err
		}
	}
}

// startPass starts the flow before at the current pass, unless the epoch was interrupted.
func (r *repeated[T]) startPass(epoch int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return errLeft
	}
	return r.in.StartEpoch(r.pass(epoch))
}

func (r *repeated[T]) Interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = true
	r.in.Interrupt()
}

func (r *repeated[T]) StartEpoch(epoch int64) error {
	if err := pipeline.CheckEpoch(epoch); err != nil {
		return err
	}
	r.mu.Lock()
	r.left = false
	r.mu.Unlock()
	r.done = 0
	if err := r.startPass(epoch); err != nil {
		return err
	}
	r.begin(epoch)
	return nil
}

func (r *repeated[T]) State() pipeline.State  { return r.before }
func (r *repeated[T]) Running() *pipeline.Run { return r.in.Running() }
func (r *repeated[T]) recycle() func(T)       { return r.in.recycle() }
func (r *repeated[T]) Close()                 { r.in.Close() }
