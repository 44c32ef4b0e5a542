package reader

import (
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/images"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Shuffle returns elements in a random order, like tf.data's Dataset.shuffle: each is drawn from a
// buffer of that many, and the next one takes its slot. So none is returned more than buffer - 1
// positions early, and any may be late. Each epoch of a Repeat after it has another order.
//
// The buffer holds copies of the records; Report shows their size as Held. To resume in the middle,
// about buffer·(ln buffer + 1) elements are read again.
func (p Pipe) Shuffle(buffer int) Pipe { return p.ShuffleWith(ShuffleOptions{Buffer: buffer}) }

// Skip drops the first n elements.
func (p Pipe) Skip(n int64) Pipe { return p.then(stages.Skip(p.last, n)) }

// Take ends after n elements.
func (p Pipe) Take(n int64) Pipe { return p.then(stages.Take(p.last, n)) }

// Cache returns the elements of the stage before and keeps them: once it has returned all, later
// epochs (see [Pipe.Repeat]) come from the cache, and no stage before it runs any more. Every epoch
// has the order of the first one, so shuffle after the cache and not before it. [Record.Epoch]
// keeps counting; skipped damage is reported while the cache is filled, and not again.
//
// An epoch that is left early leaves no cache, and the next one starts filling from scratch. In
// memory, each run has its own cache. On disk, a complete cache of the same dataset, stages and
// Version is used at once; while one process fills it, others do not wait but read that epoch from
// the source. Caching something else in the same directory is refused at Start, also while the
// cache is being filled, and then even with Replace. Each worker of a job has its own cache in the
// directory. To remove a cache, delete its files.
//
// [Flow.Cache] keeps what is made of records, such as batches of decoded images.
//
// A [State] counts the elements of the epoch that were received. Resuming from it costs nothing
// with a complete cache on disk. Otherwise the epoch's elements are read again from the beginning,
// which fills the cache.
func (p Pipe) Cache(o CacheOptions) Pipe { return p.then(stages.Cache(p.last, o)) }

// Repeat returns the elements n times, or forever if n is -1. The stages before it begin a new
// epoch each time (see [Record.Epoch]): shuffles before it are drained first, so that epochs never
// mix, and use another order. An epoch without elements ends it.
func (p Pipe) Repeat(n int) Pipe { return p.then(stages.Repeat(p.last, n)) }

// Prefetch returns the same elements, with up to n blocks of them ready before they are requested,
// each of some hundred small records or a few large ones. The stages before it then run
// concurrently with those after it. With 0 the number is chosen and adjusted as the pipeline runs.
// The memory limit of the [Options] applies in any case.
//
// Sources and flows already work ahead: this is for stages between them, such as a [Pipe.Filter] or
// a [Pipe.Cache] on disk.
func (p Pipe) Prefetch(n int) Pipe { return p.then(stages.Prefetch(p.last, n)) }

// Map returns a pipe of the same records with other data: f appends the new data of a record to dst
// and returns the extended slice. Several goroutines call f; the order of the records is preserved.
// The result is a pipe of records like any other, so this is the place for work that a [Pipe.Cache]
// should save. A [State] identifies f by its name: another name makes another pipeline. An error of
// f ends the pipe with the record's file, number and offset, unless [SkipBad] allows skipping the
// record. The Unordered and Size options are refused.
func (p Pipe) Map(name string, f func(dst []byte, r Record) ([]byte, error), o MapOptions) Pipe {
	return p.then(stages.Map(p.last, name, f, o))
}

// Filter returns a pipe of the records for which keep returns true. A [State] identifies keep by
// its name: another name makes another pipeline. An error of keep ends the pipe with the record's
// file, number and offset, unless [SkipBad] allows skipping the record.
func (p Pipe) Filter(name string, keep func(Record) (bool, error)) Pipe {
	return p.then(stages.Filter(p.last, name, keep))
}

// Resample drops records at random so that the shares of the classes become those of the target,
// with as few dropped as that allows: like tf.data.Dataset.rejection_resample, which estimates the
// initial shares if they are not given. class returns the class of a record, an index into Initial;
// a [State] identifies it by its name. Whether a record is kept depends on the seed, its epoch, its
// file and its number, and nothing else: elements of one record, such as windows or copies, get the
// same random number.
//
// To repeat records of rare classes instead, see [WeightedSampler].
func (p Pipe) Resample(name string, class func(Record) (int, error), o ResampleOptions) Pipe {
	return p.then(stages.Resample(p.last, name, class, o, p.seed()))
}

// Windows returns a pipe of windows over the steps of the records: time series, or episodes in RLDS
// format. A window is a record, which [Pipe.Shuffle] mixes with those of other records and
// [ParseColumns] parses, with the [columns.Schema] of the windows or a part of it. It has the file,
// number and offset of the record that it is from, and never steps of two records.
//
//	schema := columns.Schema{
//		{Key: "steps/action", Kind: tfrecord.KindFloat, Shape: []int{7}, Steps: columns.FlatSteps, Length: 16},
//	}
//	windows := columns.WindowSpec{Schema: schema, Length: 16, Stride: 1, DropRemainder: true}
//	batches := reader.ParseColumns(set.Interleave(16, 1).Windows(windows).Shuffle(10_000), reader.ColumnSpec{
//		Schema: schema, Batch: 256,
//	})
//
// Batches have the Shape {256, 16, 7}. Without the Length of the field they are ragged, although all
// windows have 16 steps.
//
// Windows of T steps that are images are clips: [Images] with Frames of T decodes them to the Shape
// {batch, T, height, width, channels}, with the other values of their steps as columns.
//
// A record that does not match the schema ends the pipe with an error that names its file, number,
// offset and feature, unless [SkipBad] allows skipping it. Windows are cut as they are requested.
// The parsed values of the current record and the starts of its steps are held as well, in addition
// to Options.Memory: with small int64 values in [columns.FlatSteps], up to 20 times the size of the
// record. More than 8 MiB are released at the next record that needs less than a quarter.
func (p Pipe) Windows(spec columns.WindowSpec) Pipe { return p.then(stages.Windows(p.last, spec)) }

// ShuffleWith is Shuffle with more options.
func (p Pipe) ShuffleWith(o ShuffleOptions) Pipe { return p.then(stages.Shuffle(p.last, o, p.seed())) }

// Batch describes batches of n records. The last one may be smaller; dropRemainder drops it.
// Nothing is copied: this is as fast as reading records.
func (p Pipe) Batch(n int, dropRemainder bool) Flow[*RecordBatch] {
	return Flow[*RecordBatch]{flows.RecordBatches(p.chain(), n, dropRemainder)}
}

// ResizeImages returns a pipe of the same records with their images resized and stored as JPEG, for a
// [Pipe.Cache] of small images, from which later epochs and runs read:
//
//	small := reader.ResizeImages(set.Interleave(16, 1), reader.ResizeOptions{
//		Resize: augment.ResizeSpec{Width: 256, Height: 256, Fit: augment.Shorter, NoUpscale: true},
//	})
//	batches := reader.Images(small.Cache(reader.CacheOptions{Dir: "cache"}).Shuffle(10_000), spec)
//
// All other features stay as they are, but for the size, the format and the orientation of the image. A
// JPEG that has the size already is not encoded again. Images that are stored as samples, and records
// with objects or masks, are an error: `tfrec convert images` resizes these together. The images of all
// workers take at most Options.Memory, in addition to what that accounts for; a larger one is resized
// alone.
func ResizeImages(p Pipe, o ResizeOptions) Pipe {
	memory := int64(0)
	if p.set != nil {
		memory = p.set.files.Opts.Memory
	}
	return p.then(images.ResizeImages(p.last, o, memory))
}
