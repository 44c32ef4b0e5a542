// Package reader streams TFRecord files into training jobs in Go, with the orders and terms of
// tf.data. It reads ahead in parallel within a memory bound, verifies every checksum, skips damage
// if allowed, divides a set among workers without losing or repeating a record, and resumes exactly
// where it stopped.
//
//	// Open takes a directory, a file, a glob or a manifest.
//	set, err := reader.Open(ctx, "out", reader.Options{Seed: 42})
//	if err != nil {
//		return err
//	}
//	pipe := set.Interleave(16, 1).Shuffle(10_000)
//	run, err := reader.ParseColumns(pipe, reader.ColumnSpec{Batch: 32}).Start(ctx, reader.From{})
//	if err != nil {
//		return err
//	}
//	defer run.Close() // stops all goroutines and closes all files
//	for run.Epoch() < 10 {
//		for batch, err := range run.All() {
//			if err != nil {
//				return err // names the file, the record and the byte
//			}
//			labels, err := batch.Int64s("label") // a plain slice, valid until the next batch
//			...
//		}
//		if err := run.NextEpoch(); err != nil {
//			return err
//		}
//	}
//
// # Epochs
//
// Every epoch has its own order and its own draws of an augmentation policy; both follow from the
// seed and the number of the epoch. Start begins with epoch 0: a job that calls Start, or
// [Flow.All], once per epoch sees the same order each time. Continue with [Stream.NextEpoch],
// which keeps caches, tuning and goroutines; begin elsewhere with the Epoch of [From]; or add
// [Flow.Repeat] to the pipeline, which reads ahead across the end of an epoch. Batches and records
// have a field Epoch, and with [Options.BatchWithinEpoch] no batch mixes two epochs.
//
// # From files to elements
//
// A [Set] is files and options. A [Flow] describes the elements of a pipeline. It begins with the
// records of a set, a [Pipe], in the order of [Set.Records], [Set.Interleave], [Set.ShuffleAll] or
// [Set.Sample]. Methods add stages that keep the type of the elements: [Flow.Shuffle], [Flow.Filter],
// [Flow.Cache], [Flow.Skip], [Flow.Take], [Flow.Prefetch] and [Flow.Repeat]. Functions make other
// elements: [Map], [ParseColumns], [Images], [Batch] and more; or other records: [MapData], [Windows],
// [Resample] and [ResizeImages]. Nothing is read before Start or All.
//
// Columns and images are plain slices with a shape, one for a whole batch, which tensor libraries
// take without a copy. A batch is valid until the next one is requested: Clone keeps it, and with
// PoisonRecycled of the [Options] a program that forgot to fails in its first test. The program in
// examples/train learns from such batches; module github.com/tfrec/tfrec/gomlx makes any Flow a
// dataset of GoMLX.
//
// Sequences are columns of steps, ragged or padded ([columns.Field].Steps). [Windows] cuts time
// series and episodes into windows of a fixed length, [BucketByLength] makes batches of elements of
// similar length, which [Pad] makes tensors, and [Pack] fills rows of fixed length with several
// sequences. A batch of images can also have columns of further features, objects with their boxes,
// masks, images of several cameras, frames of videos and episodes, and the soft labels of MixUp or
// CutMix, and a GPU can make it, in page-locked memory: see [ImageSpec].
//
// # Checkpoints
//
// A [State] is the position of a consumer, as JSON of a few hundred bytes, and some twenty more for
// each file that an Interleave has open beyond the first few. A flow that starts from it continues
// with the element that follows:
//
//	run, err := batches.Start(ctx, reader.From{}) // or reader.From{State: &state}
//	...
//	train(batch)
//	save(run.State())
//
// Stages that count or hold elements add a few numbers to the State; a Shuffle, [BucketByLength] and
// [Pack] make again what they held.
//
// # Several sets, and other samples of one
//
// [Mix] draws from several pipes by weight, or as a function chooses, and [Concat] puts them one
// after another; the result is a pipe like any other, with one State. [Zip] makes elements of a
// record of each.
//
//	mixed := reader.Mix(reader.MixOptions{Weights: []float64{0.9, 0.1}},
//		web.Interleave(16, 1).Shuffle(10_000), books.ShuffleAll(reader.ShuffleAllOptions{}).Repeat(-1))
//
// [Set.Sample] reads records in any order that a function lists: weighted draws with
// [WeightedSampler], so that rare classes come as often as others, or a curriculum with
// [SortedSampler]. [Resample] drops records of frequent classes instead.
//
// # Many workers
//
// Each process of a job opens the same set as one of several workers:
//
//	set, err := reader.Open(ctx, "out", reader.Options{
//		Split: "train", Worker: rank, Workers: world, Seed: 42,
//	})
//
// Together they read each record once in an epoch; [Uneven] controls what happens when the numbers
// are uneven, and [Set.Sharding] how the set was divided. A job continues with more or fewer
// workers from what [MergeStates] makes of the States of all: each record of the epoch is still
// read once.
//
// # Caching
//
// Expensive work can be done once instead of in each epoch: [ResizeImages] and [MapData] replace the
// data of records, for example large images with small ones, and [Flow.Cache] keeps the result, in
// memory or on disk:
//
//	pipe := reader.MapData(set.Interleave(16, 1), shrink, reader.MapDataOptions{}).
//		Cache(reader.CacheOptions{Dir: "cache", Version: "shrink 1"}).Shuffle(10_000)
//
// A cache of other elements, such as batches of decoded images or of columns, saves reading, decoding
// and parsing in later epochs. They have the order and the draws of the first epoch.
//
//	batches := reader.Images(pipe, spec).Cache(reader.CacheOptions{}) // in memory
//
// # Damage
//
// Damage is an error with file, record and offset, unless [SkipBad] allows bad records to be
// skipped, which are counted and reported. A file that changed after the set was opened is always
// an error: [ErrChanged].
//
// # Speed
//
// A running pipeline tunes itself: unless they are given, the numbers of files read at once, of
// goroutines that parse, decode or map, and of elements made in advance are chosen within a budget
// of processors and one of memory, both in the [Options]. A function of [Map] that waits, as for a
// service, may have more workers than there are processors (see [MapOptions]). Stats and Report show
// what was chosen and name the bottleneck; the order of the elements never depends on it.
//
// With a Logger in the [Options], a run reports skipped damage, caches and settled tuning as events
// of log/slog. CPU profiles divide by the label tfrec_stage, and go tool trace shows what each
// stage does as regions named "tfrec " and the stage, and the waits of the consumer as "tfrec
// next". The command tfrec doctor finds out what bounds training on a set.
//
// Stages of records pass on a block of them at a time, which alias the buffers that were read, so that
// no record costs an allocation, a lock or, except for shuffling, a copy. [Batch] hands them to the
// program as cheaply; the Stream of a [Pipe] returns them one by one.
package reader
