// Package gomlx trains GoMLX models on TFRecord files: it makes any flow of package reader a
// train.Dataset, whose batches are tensors.
//
//	set, err := reader.Open(ctx, "penguins", reader.Options{Split: "train", Seed: 42})
//	...
//	batches := reader.ParseColumns(set.Interleave(4, 1).Shuffle(1000),
//		reader.ColumnSpec{Batch: 32, DropRemainder: true})
//	ds, err := gomlx.New(ctx, "train", batches, gomlx.Columns{
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
// the dtypes that the model and its losses want; GoMLX then owns the tensors and frees them.
//
// GoMLX compiles the model again for every shape, so drop the smaller last batch of an epoch with
// DropRemainder of [reader.ColumnSpec] or [reader.ImageSpec], or repeat the pipe without end
// ([reader.Pipe.Repeat]) and train by steps.
//
// # Epochs
//
// Yield returns io.EOF at the end of an epoch, and Reset begins the next one, which has its own
// order and its own draws of an augmentation policy. GoMLX resets a dataset also before it has
// yielded anything, to evaluate on it: this does not skip an epoch.
//
// # Checkpoints
//
// [Dataset.State] records what was yielded. Save it with the weights, and [Resume] continues with
// the batch that follows, so that a job that was killed ends with the weights of one that was not.
//
// # Reading ahead
//
// The flow works ahead by itself, in as many goroutines as it takes. datasets.Parallel may wrap a
// Dataset, but is not needed: batches then arrive in any order, and a State counts those that wait
// in its buffer as yielded. [Dataset.Waited] shows how long the training waited for its input.
//
// # Examples
//
// The programs in examples learn species of penguins from a table, and handwritten digits from
// images. They are part of this module, not of the examples of the main module, so that a program
// which requires the main module to read files does not require GoMLX. See docs/gomlx.md.
//
// This package requires GoMLX v0.26, whose Dataset is an interface of Yield and Reset. It imports
// no backend: a program chooses its own.
package gomlx
