package gomlx

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"github.com/gomlx/gomlx/pkg/ml/train"

	"github.com/tfrec/tfrec/reader"
)

// Spec makes tensors of the batches of a flow, whose elements are of type B.
type Spec[B any] interface {
	// Tensors returns new tensors, with copies of what they need: the batch is valid until it
	// returns. Calls do not overlap.
	Tensors(batch B) (inputs, labels []*tensors.Tensor, err error)
}

// Dataset yields the batches of a flow as tensors. It implements train.Dataset, with its options
// train.HasShortName and train.DatasetCustomOwnership. It is safe for concurrent use.
type Dataset[B any] struct {
	name string
	spec Spec[B]

	mu       sync.Mutex
	stream   *reader.Stream[B]
	begun    bool  // the current epoch was
	err      error // final
	reported bool  // Yield has returned err since the last Reset
	waited   time.Duration
}

var _ interface {
	train.Dataset
	train.HasShortName
	train.DatasetCustomOwnership
} = (*Dataset[any])(nil)

// New starts a flow at epoch 0. GoMLX shows the name beside metrics. When ctx ends, Yield returns
// its error. The caller must Close the result.
func New[B any](ctx context.Context, name string, flow reader.Flow[B], spec Spec[B]) (*Dataset[B], error) {
	stream, err := flow.Start(ctx)
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", name, err)
	}
	return &Dataset[B]{name: name, spec: spec, stream: stream}, nil
}

// Resume is New after the batches that state records as yielded. A state of another flow is
// refused, see [reader.Flow.Resume].
func Resume[B any](ctx context.Context, name string, flow reader.Flow[B], spec Spec[B], state reader.State) (*Dataset[B], error) {
	stream, err := flow.Resume(ctx, state)
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", name, err)
	}
	return &Dataset[B]{name: name, spec: spec, stream: stream, begun: true}, nil
}

// Name returns the name that was given to New.
func (d *Dataset[B]) Name() string { return d.name }

// ShortName returns the first three letters of the name.
func (d *Dataset[B]) ShortName() string {
	letters := []rune(d.name)
	return string(letters[:min(3, len(letters))])
}

// IsOwnershipTransferred returns true: the tensors are the caller's, to free after use.
func (d *Dataset[B]) IsOwnershipTransferred() bool { return true }

// Reset begins the next epoch, unless nothing was yielded of the current one. After Resume it
// always does. Yield returns its error.
func (d *Dataset[B]) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reported = false
	if d.err != nil || !d.begun {
		return
	}
	started := time.Now()
	if err := d.stream.NextEpoch(); err != nil {
		d.fail(err)
	}
	d.begun = false
	d.waited += time.Since(started)
}

// fail keeps a final error.
func (d *Dataset[B]) fail(err error) { d.err = fmt.Errorf("dataset %s: %w", d.name, err) }

// Yield returns the tensors of the next batch, and io.EOF at the end of the epoch. The spec is nil:
// one model fits all batches.
//
// Any other error is final. One call returns it, and the others io.EOF until the next Reset, since
// datasets.Parallel panics when two of its goroutines get an error.
func (d *Dataset[B]) Yield() (spec any, inputs, labels []*tensors.Tensor, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	started := time.Now()
	defer func() { d.waited += time.Since(started) }()
	if d.err == nil {
		d.begun = true
		var batch B
		if batch, err = d.stream.Next(); err == io.EOF {
			return nil, nil, nil, err
		}
		if err == nil {
			inputs, labels, err = d.spec.Tensors(batch)
		}
		if err == nil {
			return nil, inputs, labels, nil
		}
		d.fail(err)
	}
	if d.reported {
		return nil, nil, nil, io.EOF
	}
	d.reported = true
	return nil, nil, nil, d.err
}

// State returns the state after the batch that was yielded last, for Resume.
func (d *Dataset[B]) State() reader.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stream.State()
}

// Epoch returns the number of the current epoch, from 0.
func (d *Dataset[B]) Epoch() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stream.Epoch()
}

// Waited returns the time spent in Yield and Reset since New: waiting for batches, and copying
// them. Divided by the time of the training, it is the share that the input costs.
func (d *Dataset[B]) Waited() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waited
}

// Close stops the flow and closes its files; Yield then returns an error. Tensors that were yielded
// stay valid. It may be called more than once.
func (d *Dataset[B]) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stream.Close()
}
