package reader

import (
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/images"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Map describes the results of f for the elements of a flow, in the same order by default. Several
// goroutines call f; its result may alias the element, whose data stay valid as long as the result.
// An error of f ends the flow with the file, number and offset of the record, or of the last of
// them for an element of several records, unless [SkipBad] allows skipping the record of a [Pipe].
func Map[T, U any](in Flow[T], f func(T) (U, error), o MapOptions) Flow[U] {
	if f == nil {
		return MapWith[T, U](in, nil, o)
	}
	return MapWith(in, func() func(T) (U, error) { return f }, o)
}

// MapWith is [Map] with a function for each worker, which one goroutine at a time calls: the place
// for parsers and buffers that cannot be shared. Its results must not depend on earlier elements:
// which elements a worker gets differs from run to run. Several goroutines call newWorker, as often
// as there may be workers (see [MapOptions]).
//
//	reader.MapWith(pipe, func() func(reader.Record) (int64, error) {
//		var example tfrecord.Example // reused
//		return func(r reader.Record) (int64, error) {
//			if err := example.Parse(r.Data); err != nil {
//				return 0, err
//			}
//			...
//		}
//	}, reader.MapOptions{})
func MapWith[T, U any](in Flow[T], newWorker func() func(T) (U, error), o MapOptions) Flow[U] {
	if in.isPipe() {
		return with(in, flows.MapRecords(in.pipe(), as[func() func(Record) (U, error)](newWorker), o))
	}
	return with(in, flows.Map(in.make, newWorker, o))
}

// MapData describes the same records with other data: f appends the new data of a record to dst and
// returns the extended slice. Several goroutines call f; the order of the records is preserved. This is
// the place for work that a [Flow.Cache] should save. An error of f ends the flow with the record's
// file, number and offset, unless [SkipBad] allows skipping the record.
func MapData(p Pipe, f func(dst []byte, r Record) ([]byte, error), o MapDataOptions) Pipe {
	return p.stage(stages.Map(p.pipe().Last, f, o))
}

// ResizeImages describes the same records with their images resized and stored as JPEG, for a
// [Flow.Cache] of small images, from which later epochs and runs read:
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
		memory = p.set.Opts.Memory
	}
	return p.stage(images.ResizeImages(p.pipe().Last, o, memory))
}

// Enumerate describes the elements of a flow with their numbers in the epoch, like tf.data's
// Dataset.enumerate. After resuming, the numbers continue.
func Enumerate[T any](f Flow[T]) Flow[Indexed[T]] { return with(f, flows.Enumerate(f.elements())) }

// ParseColumns describes batches of records as columns, parsed in advance and in order. Fields with
// [columns.Steps] make columns of sequences; [Windows] cuts these into windows. A record
// that does not match the schema ends the flow with an error that names its file, number, offset
// and feature, unless [SkipBad] allows skipping it.
func ParseColumns(p Pipe, spec ColumnSpec) Flow[*ColumnBatch] {
	return with(p, flows.Columns(p.pipe(), spec))
}

// Images describes batches of images, decoded in advance and in order, each directly into its row
// of the tensor. An image that cannot be decoded ends the flow with the record's file, number and
// offset, and the number of the frame in a clip, unless [SkipBad] allows skipping the record.
func Images(p Pipe, spec ImageSpec) Flow[*ImageBatch] { return with(p, images.Batches(p.pipe(), spec)) }
