package reader

import "github.com/tfrec/tfrec/reader/internal/stages"

// Concat returns the records of all pipes, one pipe after another, like
// tf.data.Dataset.concatenate. What [Mix] says of options, of [Record.File] and of memory holds
// here, too.
func Concat(pipes ...Pipe) Pipe { return pipeOf(stages.Concat(chains(pipes))) }

// Mix returns records of several pipes, each drawn at random according to the weights, like
// tf.data.Dataset.sample_from_datasets. The records of each pipe keep their order. Each epoch draws
// differently, and begins with the beginning of the same epoch of each pipe.
//
//	text, code := web.Interleave(16, 1).Shuffle(10_000), repos.ShuffleAll(reader.ShuffleAllOptions{})
//	mixed := reader.Mix(reader.MixOptions{Weights: []float64{0.9, 0.1}, StopOnEmpty: true},
//		text, code.Repeat(-1)) // code starts over until text ends
//
// The sets may have different options, but are all of the same worker; all workers of a job draw
// the same sequence of pipes. Parallelism, Memory, BatchWithinEpoch and PoisonRecycled of the first
// pipe's [Options] apply to the whole, and so do its Seed and OnSkip to the stages that follow,
// whose skipped records count against the limits of all sets together. [Record.File] refers to the
// [Pipe.Set] of the result. The memory is divided among the pipes.
//
// A [State] may be resumed with other Weights, which apply from the next multiple of 512 elements
// after it. A Shuffle, a Cache or another Mix after Mix rules that out, and so does [MergeStates] up
// to the end of the epoch; shuffle before mixing. Two mixes with the same Seed draw alike.
func Mix(o MixOptions, pipes ...Pipe) Pipe { return pipeOf(stages.Mix(o, chains(pipes))) }
