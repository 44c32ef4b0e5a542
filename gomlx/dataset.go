package gomlx

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/train"

	"github.com/tfrec/tfrec/reader"
)

// Spec makes tensors of the batches of a flow, whose elements are of type B.
type Spec[B any] interface {
	// Tensors returns new tensors, with copies of what they need: the batch is valid until it
	// returns. Calls do not overlap.
	Tensors(batch B) (inputs, labels []*tensors.Tensor, err error)
}

// Dataset iterates over the batches of a flow as tensors. It implements train.Dataset and
// train.HasShortName. It is safe for concurrent use: iterators that run at the same time share the
// batches of the epoch.
type Dataset[B any] struct {
	name string
	spec Spec[B]

	mu     sync.Mutex
	stream *reader.Stream[B]
	err    error // final
	waited time.Duration
}

var _ interface {
	train.Dataset
	train.HasShortName
} = (*Dataset[any])(nil)

// New starts a flow. GoMLX shows the name next to metrics. When ctx ends, iterators return its error. The
// caller must Close the result.
func New[B any](ctx context.Context, name string, flow reader.Flow[B], from reader.From, spec Spec[B]) (*Dataset[B], error) {
	stream, err := flow.Start(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", name, err)
	}
	return &Dataset[B]{name: name, spec: spec, stream: stream}, nil
}

// Name returns the name that was given to New.
func (d *Dataset[B]) Name() string { return d.name }

// ShortName returns the first three letters of the name.
func (d *Dataset[B]) ShortName() string {
	letters := []rune(d.name)
	return string(letters[:min(3, len(letters))])
}

// Iter returns an iterator over the remaining batches of the epoch. After the end of an epoch it
// returns the batches of the next one, which has its own order and its own draws of an augmentation
// policy.
//
// An iterator that stops early leaves the rest of the epoch to the next one, instead of beginning
// the epoch again: train.Loop makes an iterator for each call of RunSteps, and would otherwise train
// on the first batches of epochs only. NextEpoch drops the rest.
//
// The caller owns the tensors of a batch. The Spec of the batch is nil: one model fits all batches.
// An error ends the iteration and is final: every later iterator returns it.
func (d *Dataset[B]) Iter() iter.Seq2[train.Batch, error] {
	return func(yield func(train.Batch, error) bool) {
		for begins := true; ; begins = false {
			batch, err := d.next(begins)
			if err == io.EOF || !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

// next returns the next batch; io.EOF at the end of the epoch, unless an iterator begins there.
func (d *Dataset[B]) next(begins bool) (train.Batch, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	started := time.Now()
	defer func() { d.waited += time.Since(started) }()
	if d.err != nil {
		return train.Batch{}, d.err
	}
	element, err := d.stream.Next()
	if begins && err == io.EOF {
		if err = d.stream.NextEpoch(); err == nil {
			element, err = d.stream.Next()
		}
	}
	if err == io.EOF {
		return train.Batch{}, err
	}
	var batch train.Batch
	if err == nil {
		batch.Inputs, batch.Labels, err = d.spec.Tensors(element)
	}
	if err != nil {
		d.err = fmt.Errorf("dataset %s: %w", d.name, err)
		return train.Batch{}, d.err
	}
	return batch, nil
}

// NextEpoch drops the rest of the epoch: the next iterator begins the epoch after it.
func (d *Dataset[B]) NextEpoch() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		if err := d.stream.NextEpoch(); err != nil {
			d.err = fmt.Errorf("dataset %s: %w", d.name, err)
		}
	}
	return d.err
}

// State returns the state after the batch that was returned last, for [reader.From].
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

// Waited returns the time that iterators have spent since New, waiting for batches and copying
// them. Divided by the time of the training, it is the share that the input costs.
func (d *Dataset[B]) Waited() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waited
}

// Close stops the flow and closes its files; iterators then return an error. Tensors that were
// returned stay valid. It may be called more than once.
func (d *Dataset[B]) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stream.Close()
}
