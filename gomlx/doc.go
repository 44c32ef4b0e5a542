// Package gomlx trains GoMLX models on TFRecord files: it makes any flow of package reader a
// train.Dataset, whose batches are tensors.
//
//	set, err := reader.Open(ctx, "penguins", reader.Options{Split: "train", Seed: 42})
//	...
//	batches := reader.ParseColumns(set.Interleave(4, 1).Shuffle(1000),
//		reader.ColumnSpec{Batch: 32, DropRemainder: true})
//	ds, err := gomlx.New(ctx, "train", batches, reader.From{}, gomlx.Columns{
//		Inputs: []gomlx.Column{{Key: "measurements"}},
//		Labels: []gomlx.Column{{Key: "species"}},
//	})
//	...
//	defer ds.Close()
//	_, err = train.NewLoop(trainer).RunEpochs(ds, 10)
//
// # Batches to tensors
//
// A [Spec] makes the tensors of a batch: [Columns] for parsed Examples, [Images] for images, and
// your own type for any other flow. The values are copied once, from the batch into the tensors, in
// the dtypes that the model and its losses want; GoMLX then owns the tensors.
//
// GoMLX compiles the model again for every shape, so drop the smaller last batch of an epoch with
// DropRemainder of [reader.ColumnSpec] or [reader.ImageSpec], or repeat the pipe without end
// ([reader.Flow.Repeat]) and train by steps.
//
// # Epochs
//
// An iterator of a [Dataset] ends with the epoch. The next one begins the next epoch, which has its
// own order and its own draws of an augmentation policy. An iterator that stops early leaves the rest
// of the epoch to the next one, so that calls of train.Loop.RunSteps continue where the last one
// stopped; [Dataset.NextEpoch] drops the rest.
//
// # Checkpoints
//
// [Dataset.State] records which batches were returned. Save it with the weights, and a Dataset from it
// continues with the batch that follows, so that a job that was killed ends with the weights of one
// that was not.
//
// # Several devices
//
// [Distribute] makes a [Distributed] dataset, whose batches are split over devices: the same records
// in each step, and the same State, for any number of devices. Several processes each open their part
// of the set, see Worker and Workers of [reader.Options].
//
// # Reading ahead
//
// The flow works ahead by itself, in as many goroutines as it takes. dataset.Buffer may wrap a
// Dataset, but is not needed: a State then counts the batches in its buffer as returned, and they are
// lost when an iterator stops early. [Dataset.Waited] shows how long the training waited for its
// input.
//
// # Examples
//
// The programs in examples learn species of penguins from a table, handwritten digits from small
// images, and cats and dogs from photographs. They are part of this module, not of the examples of the
// main module, so that a program which requires the main module to read files does not require GoMLX.
// See docs/gomlx.md.
//
// This package requires GoMLX v0.28, whose Dataset is an interface of Iter, and Go 1.26.5. It imports
// no backend: a program chooses its own.
package gomlx
