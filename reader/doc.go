// Package reader is a dataset in motion: TFRecord files, in tf.data's orders
// and words, for training jobs in Go. It reads ahead in parallel within a bound,
// checks everything, survives damage when asked to, divides a set among workers
// without losing or repeating a record, and resumes exactly where it was.
//
// A loop over batches of a dataset's features needs no option at all:
//
//	set, err := reader.Open("out", reader.Options{}) // a folder, a file, a glob or a manifest
//	if err != nil {
//		return err
//	}
//	pipe := set.Interleave(16, 1).Shuffle(10_000).Repeat(10) // ten epochs
//	batches := reader.ParseColumns(pipe, reader.ColumnSpec{Batch: 32})
//	for batch, err := range batches.All(ctx) {
//		if err != nil {
//			return err // what, in which file, which record, at which byte
//		}
//		labels := batch.Get("label").Int64s // plain slices, valid until the next turn
//		train(batch.Get("x").Floats, labels)
//	}
//
// Leaving the loop, or ending ctx, stops everything and closes all files.
//
// # From files to elements
//
// A [Set] is files and options. A [Pipe] describes in which order their records
// come: [Set.Records], [Set.Interleave] or [Set.ShuffleAll] begin it, and
// [Pipe.Shuffle], [Pipe.Map], [Pipe.Filter], [Pipe.Cache], [Pipe.Skip], [Pipe.Take],
// [Pipe.Prefetch] and [Pipe.Repeat] go on, each after what stands before it. At its
// end stands what makes elements of records, a [Flow]: [ParseColumns], [Pictures],
// [Map] or [Pipe.Batch], and behind them [MapFlow], [Batch], [Unbatch], [Flow.Filter]
// and [Flow.Prefetch]. What they give are plain slices, one for all of a batch, with
// a shape: tensor libraries take them without a copy. Nothing is read before Start,
// Resume or All. The program in examples/train learns from such batches.
//
// # Stopping and going on
//
// A loop that is to go on after a crash saves a [State], some hundred bytes of JSON
// that say what it has received; the next element after Resume is the one that
// follows:
//
//	running, err := batches.Start(ctx) // or batches.Resume(ctx, state)
//	if err != nil {
//		return err
//	}
//	defer running.Close() // stops and waits for all that runs
//	for {
//		batch, err := running.Next()
//		if err == io.EOF {
//			return nil
//		}
//		if err != nil {
//			return err
//		}
//		train(batch)
//		save(running.State())
//	}
//
// # Many workers
//
// Each process of a job opens the same set, as one worker of several:
//
//	set, err := reader.Open("out", reader.Options{Split: "train", Worker: rank, Workers: world, Seed: 42})
//
// Over all of them each record comes once in an epoch; [Ends] says what is done when
// the numbers are uneven, and [Set.Sharding] how the set was divided.
//
// # Work that is done once
//
// What is costly need not be done in each epoch: [Pipe.Map] makes other records of
// records, say small pictures of large ones, and [Pipe.Cache] keeps them, in memory
// or on disk:
//
//	pipe := set.Interleave(16, 1).Map("small", shrink, reader.MapOptions{}).
//		Cache(reader.CacheOptions{Dir: "cache"}).Shuffle(10_000).Repeat(-1)
//
// # When something is wrong
//
// Damage is an error, with file, record and offset, unless [SkipBad] lets some of it
// pass, which is counted and told. A file that is not what it was when the set was
// opened is one in any case: [ErrChanged].
//
// # Speed
//
// How many files are read at once, how many goroutines parse, decode or map, and how
// much is made ahead is chosen as a pipeline runs, unless it is given: within a
// budget of processors and one of memory, both in the [Options]. Stats and Report
// show what was chosen, and name what holds the pipeline back; the order of the
// elements never depends on it.
//
// Records without anything around them come from a [Stream], which [Pipe.Start]
// gives: one by one, or with [Stream.NextBlock] hundreds at a time. Stages hand over
// a [Block] at a time, whose records alias the buffers that were read, so that no
// record costs an allocation, a lock or, but for shuffling, a copy.
package reader
