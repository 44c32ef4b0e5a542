package reader

import (
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Resample drops as few records as possible, at random, so that the shares of the classes match the
// target: like tf.data.Dataset.rejection_resample, which estimates the initial shares if they are
// not given. class returns the class of a record, an index into Initial. Whether a record is kept
// depends on the seed, its epoch, its file and its number, and nothing else: elements of one
// record, such as windows or copies, get the same random number.
//
// To repeat records of rare classes instead, see [WeightedSampler].
func Resample(p Pipe, class func(Record) (int, error), o ResampleOptions) Pipe {
	return p.stage(stages.Resample(p.pipe().Last, class, o, p.seed()))
}

// Windows describes windows over the steps of the records: time series, or episodes in RLDS format.
// A window is a record: [Flow.Shuffle] mixes it with windows of other records, and [ParseColumns]
// parses it with the [columns.Schema] of the windows or a part of it. It has the file, number and
// offset of the record that it is from, and never steps of two records.
//
//	schema := columns.Schema{
//		{Key: "steps/action", Kind: tfrecord.KindFloat, Shape: []int{7}, Steps: columns.FlatSteps, Length: 16},
//	}
//	windows := reader.Windows(set.Interleave(16, 1), columns.WindowSpec{
//		Schema: schema, Length: 16, Stride: 1, DropRemainder: true,
//	})
//	batches := reader.ParseColumns(windows.Shuffle(10_000), reader.ColumnSpec{Schema: schema, Batch: 256})
//
// Batches have the Shape {256, 16, 7}. Without the Length of the field they are ragged, although all
// windows have 16 steps.
//
// Windows of T steps that are images are clips: [Images] with Frames of T decodes them to the Shape
// {batch, T, height, width, channels}, with the other values of their steps as columns.
//
// A record that does not match the schema ends the flow with an error that names its file, number,
// offset and feature, unless [SkipBad] allows skipping it. Windows are cut as they are requested.
// The parsed values of the current record and the starts of its steps are held as well, in addition
// to Options.Memory: with small int64 values in [columns.FlatSteps], up to 20 times the size of the
// record. More than 8 MiB are released at the next record that needs less than a quarter.
func Windows(p Pipe, spec columns.WindowSpec) Pipe {
	return p.stage(stages.Windows(p.pipe().Last, spec))
}

// pipes are the stages of several flows.
func pipes(all []Pipe) []stages.Pipe {
	of := make([]stages.Pipe, len(all))
	for i, p := range all {
		of[i] = p.pipe()
	}
	return of
}

// Concat describes the records of all pipes, one pipe after another, like
// tf.data.Dataset.concatenate. What [Mix] says of options, of [Record.File] and of memory holds
// here, too.
func Concat(of ...Pipe) Pipe {
	all := stages.Concat(pipes(of))
	return Pipe{set: all.Set, last: all.Last}
}

// Mix describes records of several pipes, each drawn at random according to the weights, like
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
// [Flow.Set] of the result. The memory is divided among the pipes.
//
// A [State] may be resumed with other Weights, which apply from the next multiple of 512 elements
// after it. A Shuffle, a Cache or another Mix after Mix rules that out, and so does [MergeStates] up
// to the end of the epoch; shuffle before mixing. Two mixes with the same Seed draw alike.
func Mix(o MixOptions, of ...Pipe) Pipe {
	all := stages.Mix(o, pipes(of))
	return Pipe{set: all.Set, last: all.Last}
}

// Zip describes the elements that f makes of the next record of each pipe: images of one set with
// the labels of another, or two views of the same. It is tf.data.Dataset.zip, and ends with the
// pipe that ends first. f gets one record of each pipe, in their order; its result may alias their
// data, which stay valid as long as the element. Several goroutines call f. An error of f ends the
// flow with the location of the last of the records.
//
// A [State] covers all pipes. What [Mix] says of options, of [Record.File] and of memory holds here,
// too. Whatever would pair a record with the wrong partner is an error: SkipBad, Unordered, a State
// of [MergeStates], and several workers, who would not get the same places of different sets.
func Zip[T any](f func([]Record) (T, error), of ...Pipe) Flow[T] {
	set, zipped := flows.Zip(f, pipes(of))
	return Flow[T]{set: set, make: zipped}
}
