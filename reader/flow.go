package reader

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Flow describes a pipeline: a [Set] in some order, and stages after it, whose last one makes elements
// of type T. Flows are values: each method and function returns a new one, and nothing is read before
// Start or All. An invalid setting is an error there.
//
// A flow of records, a [Pipe], works on blocks of records, without a copy or an allocation for each of
// them. [Map], [ParseColumns], [Images] and [Batch] make other elements from it.
type Flow[T any] struct {
	set  *fileset.Set
	last *pipeline.Link // the last stage of a Pipe
	make flows.Flow[T]  // makes all other elements
}

// Pipe is a flow of the records of files. A function that takes a Pipe needs the blocks of these: records
// that a [Map] or [Unbatch] returned are an error at Start.
type Pipe = Flow[Record]

// isPipe reports whether the elements are the records of files.
func (f Flow[T]) isPipe() bool {
	_, ok := any((*T)(nil)).(*Record)
	return ok && f.make == nil
}

// pipe returns the stages of a Pipe, for stages in internal packages.
func (f Flow[T]) pipe() stages.Pipe {
	if f.make != nil {
		return stages.Pipe{Set: f.set, Last: notOfFiles}
	}
	return stages.Pipe{Set: f.set, Last: f.last}
}

// notOfFiles is the stage of record flows that do not come from files. It returns an error when
// started.
var notOfFiles = (*pipeline.Link)(nil).Then("records", func(*pipeline.Run, pipeline.Stage) (pipeline.Stage, error) {
	return nil, errors.New("reader: records of a Map or Unbatch, where those of files are wanted")
})

// elements returns the flow for the stages that work on any elements.
func (f Flow[T]) elements() flows.Flow[T] {
	if f.isPipe() {
		return as[flows.Flow[T]](flows.Records(f.pipe()))
	}
	return f.make
}

// as converts a value to its own type: T is Record where the compiler does not know it.
func as[T any](v any) T { return v.(T) }

// stage returns a Pipe with one more stage.
func (f Flow[T]) stage(last *pipeline.Link) Flow[T] { return Flow[T]{set: f.set, last: last} }

// with returns a flow with one more stage.
func with[T, U any](f Flow[T], next flows.Flow[U]) Flow[U] { return Flow[U]{set: f.set, make: next} }

// seed returns the default seed of stages.
func (f Flow[T]) seed() uint64 {
	if f.set == nil {
		return 0
	}
	return f.set.Opts.Seed
}

// Set returns the set that [Record.File] of the records refers to; nil for a flow that is empty. After
// [Mix], [Concat] and [Zip] it has the files of all their pipes, and [Set.Input] tells them apart; to read
// it in another order, open the sets again.
func (f Flow[T]) Set() *Set {
	if f.set == nil {
		return nil
	}
	return &Set{f.set}
}

// From is where a [Flow] starts. The zero value is the beginning of epoch 0.
type From struct {
	// Epoch starts at the beginning of an epoch, counted from 0. An epoch ends with io.EOF, and
	// each one has its own order and its own draws of [ImageSpec.Policy]. A job that starts a
	// process per epoch must set it, or every process reads epoch 0. [Stream.NextEpoch] continues
	// with the next epoch in the same run.
	//
	// With a [Flow.Repeat] of n among the stages, epoch e begins with pass e*n over the set (pass e if n is
	// -1), and [Record.Epoch] is the number of the pass.
	Epoch int64
	// State, if not nil, starts after the elements that it counts as received. If it is from
	// another dataset, or from other stages or settings, such as another batch size, Start returns
	// an error that unwraps to [ErrState]. It does not identify functions: resume with the same
	// ones.
	//
	// A State belongs to one of a number of workers. To change the number, start all of them from
	// the result of [MergeStates] for all former workers. With a global order ([Set.ShuffleAll])
	// followed by nothing but Repeat, and all workers at the same step, the State of any one worker
	// is enough. In both cases the rest of the epoch is divided among the new workers.
	State *State
}

// Start starts the flow. The caller must Close the result; when ctx ends, Next returns its error.
func (f Flow[T]) Start(ctx context.Context, from From) (*Stream[T], error) {
	if from.State != nil && from.Epoch != 0 {
		return nil, fmt.Errorf("reader: From has a State and the Epoch %d: want one of them", from.Epoch)
	}
	origin := pipeline.Origin{Epoch: from.Epoch, State: from.State}
	if !f.isPipe() {
		s, err := f.make.Start(ctx, origin)
		if err != nil {
			return nil, err
		}
		return &Stream[T]{run: s}, nil
	}
	if s := from.State; s != nil && len(s.Making) > 0 {
		return nil, fmt.Errorf("resume: %w: it is of a flow made with %s: resume that flow", ErrState, s.Making[0])
	}
	s, err := f.pipe().Start(ctx, origin)
	if err != nil {
		return nil, err
	}
	return &Stream[T]{run: as[running[T]](s)}, nil
}

// All returns the elements of epoch 0, each valid until the next iteration. An error comes with a
// zero T and ends the loop. Breaking out of the loop stops everything. To loop over several epochs,
// add [Flow.Repeat] or use [Stream.All] and [Stream.NextEpoch]: All starts with epoch 0 each
// time.
func (f Flow[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		s, err := f.Start(ctx, From{})
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		defer s.Close()
		s.All()(yield)
	}
}

// Filter describes the elements for which keep returns true. An error of keep ends the flow with
// the file, number and offset of the record, or of the last of them for an element of several
// records, unless [SkipBad] allows skipping the record of a [Pipe]. A State is the one after the
// last element returned: dropped elements after it are checked again.
func (f Flow[T]) Filter(keep func(T) (bool, error)) Flow[T] {
	if f.isPipe() {
		return f.stage(stages.Filter(f.last, as[func(Record) (bool, error)](keep)))
	}
	return with(f, flows.Filter(f.make, keep))
}

// Skip drops the first n elements of each epoch. They are made, and dropped: to skip records before
// expensive work, skip them in the [Pipe].
func (f Flow[T]) Skip(n int64) Flow[T] {
	if f.isPipe() {
		return f.stage(stages.Skip(f.last, n))
	}
	return with(f, flows.Skip(f.make, n))
}

// Take ends each epoch after n elements.
func (f Flow[T]) Take(n int64) Flow[T] {
	if f.isPipe() {
		return f.stage(stages.Take(f.last, n))
	}
	return with(f, flows.Take(f.make, n))
}

// Shuffle describes the elements in a random order, like tf.data's Dataset.shuffle: each is drawn from a
// buffer of that many, and the next one takes its slot. So none is returned more than buffer - 1
// positions early, and any may be late. Each epoch has another order.
//
// The buffer of a [Pipe] holds copies of the records; Report shows their size as Held. The buffer
// of another flow holds its elements, with the blocks of records that they alias. To resume in the
// middle, about buffer·(ln buffer + 1) elements are made again.
func (f Flow[T]) Shuffle(buffer int) Flow[T] { return f.ShuffleWith(ShuffleOptions{Buffer: buffer}) }

// ShuffleWith is Shuffle with more options.
func (f Flow[T]) ShuffleWith(o ShuffleOptions) Flow[T] {
	if f.isPipe() {
		return f.stage(stages.Shuffle(f.last, o, f.seed()))
	}
	return with(f, flows.Shuffle(f.make, o, f.seed()))
}

// Repeat describes the elements n times, or forever if n is -1. The stages before it begin a new
// epoch each time (see [Record.Epoch]): shuffles before it are drained first, so that epochs never
// mix, and use another order. An epoch without elements ends it.
func (f Flow[T]) Repeat(n int) Flow[T] {
	if f.isPipe() {
		return f.stage(stages.Repeat(f.last, n))
	}
	return with(f, flows.Repeat(f.make, n))
}

// Prefetch describes the same elements, with up to n made before they are requested: blocks of a
// [Pipe], each of some hundred small records or a few large ones, or single elements of other flows, in
// addition to what workers have in hand. The stages before it then run concurrently with those after it.
// With 0 the number is chosen and adjusted as the pipeline runs. The memory limit of the [Options] applies
// in any case.
//
// Sources and workers already work ahead: this is for stages between them, such as a [Flow.Filter] or a
// [Flow.Cache] on disk.
func (f Flow[T]) Prefetch(n int) Flow[T] {
	if f.isPipe() {
		return f.stage(stages.Prefetch(f.last, n))
	}
	return with(f, flows.Prefetch(f.make, n))
}

// Cache keeps the elements of an epoch: records, batches with their decoded images or parsed columns, or
// the results of a [Map]. Once it has returned all, later epochs (see [Stream.NextEpoch] and
// [Flow.Repeat]) come from the cache, and nothing before it is read, decoded or computed. It is
// tf.data's Dataset.cache.
//
// All epochs have the elements of the first one in the same order, so shuffle after the cache and
// not before it: also for each image the same draws of [ImageSpec].Policy and Mix. For other draws
// in each epoch, cache before they are made: records with small images by [ResizeImages], then a
// Shuffle and [Images]. The Epoch of records and batches is the one in which they are returned.
// Skipped damage is reported while the cache is filled, and not again.
//
// An epoch that is left early leaves no cache, and the next one starts filling from scratch. In
// memory, each run has its own cache. On disk, a complete cache of the same dataset, stages,
// settings (for [Images] with the decoder), type of elements and [CacheOptions].Version is used at
// once; while one process fills it, others do not wait but read that epoch from the source. Caching
// something else in the same directory is an error at Start, [ErrOtherCache], also while the cache
// is being filled, and then even with Replace. The cache does not identify functions before it:
// Version does. Each worker of a job has its own cache in the directory. To remove a cache, delete
// its files.
//
// Elements other than records are kept as bytes, and each one returned is a copy, also in the first
// epoch. They are numbers, bools, strings, and slices, arrays, structs and pointers of these, which
// includes all batches of this package; structs have exported fields only. Other types need the
// methods MarshalBinary and UnmarshalBinary of package encoding, or are an error at Start; a struct
// that embeds a type with these methods has them, too, and should define its own. Batches reuse
// their memory as they do without a cache; other elements are new each time. Copying from disk
// takes time: a Prefetch after the cache works ahead.
//
// A [State] counts the elements of the epoch that were received. Resuming from it costs nothing
// with a complete cache on disk. Otherwise the elements of the epoch are made again from the
// beginning, which fills the cache. [MergeStates] does not accept it unless the elements are
// records: each worker has its own.
func (f Flow[T]) Cache(o CacheOptions) Flow[T] {
	if f.isPipe() {
		return f.stage(stages.Cache(f.last, o))
	}
	return with(f, flows.Cache(f.make, o))
}
