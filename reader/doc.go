// Package reader is a dataset in motion: TFRecord files, in tf.data's orders
// and words, for training jobs in Go. It reads ahead in parallel within a bound,
// checks everything, survives damage when asked to, divides a set among workers
// without losing or repeating a record, and resumes exactly where it was.
//
//	set, err := reader.Open("out", reader.Options{Split: "train", Worker: rank, Workers: world, Seed: 42})
//	if err != nil { … }
//	pipe := set.Interleave(16, 1).Shuffle(10_000).Repeat(-1) // or set.ShuffleAll(…).Repeat(-1)
//	stream, err := pipe.Start(ctx) // or pipe.Resume(ctx, state)
//	if err != nil { … }
//	defer stream.Close() // stops and waits for all that runs
//	for {
//		record, err := stream.Next() // valid until the next call
//		if err != nil { … } // io.EOF, or what, in which file, at which offset
//		step(record.Data)
//		save(stream.State()) // some hundred bytes of JSON
//	}
//
// For a loop without a state there is [Pipe.All], and for speed
// [Stream.NextBlock], which gives hundreds of records at a time.
//
// What is costly need not be done in each epoch: [Pipe.Map] makes other records
// of records, say small pictures of large ones, and [Pipe.Cache] keeps them, in
// memory or on disk:
//
//	pipe := set.Interleave(16, 1).Map("small", shrink, reader.MapOptions{}).
//		Cache(reader.CacheOptions{Dir: "cache"}).Shuffle(10_000).Repeat(-1)
//
// How many files are read at once, how many goroutines parse, decode or map, and
// how much is made ahead is chosen as a pipeline runs, unless it is given: within
// a budget of processors and one of memory, both in the [Options]. Stats and
// Report show what was chosen, and what holds the pipeline back; the order of the
// elements never depends on it.
//
// At the end of a pipe stands what makes elements of its records, a [Flow]:
// [Pictures], [ParseColumns], [Map] and [Pipe.Batch], and behind them [MapFlow],
// [Batch], [Unbatch], [Flow.Filter] and [Flow.Prefetch]. What they give are plain
// slices, one for all of a batch, with a shape: tensor libraries take them
// without a copy. The program in examples/train learns from them.
//
// A [Set] is files and options, a [Pipe] a description, a [Stream] what runs.
// Stages hand over a [Block] at a time, whose records alias the buffers that
// were read, so that no record costs an allocation, a lock or, but for
// shuffling, a copy.
package reader
