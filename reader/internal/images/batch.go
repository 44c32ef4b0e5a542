package images

import (
	"slices"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// place is the position after a batch.
type place = flows.Place

// ImageBatch is a batch of images as one tensor. It is valid until the next batch is requested,
// which reuses its memory: keep a Clone. If ImageSpec.Backend is an [augment.HostAllocator], the
// samples are in its memory, unless the Frames are [columns.Longest]. It is freed when the Stream
// is closed: a copy to a device that does not wait must have ended before the next batch is
// requested, and before Close.
type ImageBatch struct {
	// Shape is {n, height, width, channels}, or {n, channels, height, width} with NCHW. With
	// ImageSpec.OtherImageKeys it is {n, images, ...}. With ImageSpec.Frames, that number comes
	// next: {n, frames, height, width, channels}, or {n, images, frames, ...}.
	Shape []int
	// DType selects the slice that has the samples: Pixels for Float32, Bytes for Uint8, and for
	// Float16 and BFloat16 their bits in Halves, contiguous and in the order of Shape. A tensor
	// library may use the slice without a copy.
	DType  DType
	Pixels []float32
	Bytes  []uint8
	Halves []uint16
	// Masks are the samples of the masks, {n, height, width}, or {n, frames, height, width} for
	// clips, with ImageSpec.MaskKey.
	Masks []uint8
	// Lengths are the numbers of frames of the records before padding, {n}, with ImageSpec.Frames.
	// They are not mixed.
	Lengths []int64
	// Labels are the labels of the records, in order. They are not mixed: where images were, each is
	// the label of the image with the share Mix.Lambda, and SoftLabels have both.
	Labels []int64
	// SoftLabels, {n, ImageSpec.Classes}, are 1 at the label of each record, or, where images were
	// mixed, the share of each label, and 0 elsewhere.
	SoftLabels []float32
	// Mix describes how the images were mixed, for losses of labels or columns, which are not
	// mixed. A Lambda of 1 means that the images are not mixed either.
	Mix augment.MixDraw
	// Objects are the objects of the images, with ImageSpec.Objects; empty without.
	Objects columns.Objects
	// Columns are the columns of the spec, one row for each record; empty without.
	Columns columns.Columns
	// Epoch is the epoch of the first record (see Record.Epoch).
	Epoch int32
	// Decoders names the decoder of each image, in order, if ImageSpec.Backend decodes: Decoder of
	// its [augment.Task], and "" for images that only ImageSpec.Codec decodes and for padding.
	Decoders []string

	imageWork `cache:"-"`
	place
}

// imageWork has the scratch data of a batch.
type imageWork struct {
	clips   *clips         // while their frames are decoded
	objects []imageObjects // by record, with ImageSpec.Objects
	free    func()         // frees the memory of the samples; nil: the garbage collector does
}

// memory is the size of the batch in bytes.
func (b *ImageBatch) memory() int64 {
	return int64(4*cap(b.Pixels)+cap(b.Bytes)+cap(b.Masks)+2*cap(b.Halves)+8*cap(b.Labels)+8*cap(b.Lengths)+4*cap(b.SoftLabels)) +
		flows.ColumnsMemory(&b.Columns) + b.objectsMemory()
}

// begin makes room for the images of records.
func (b *ImageBatch) begin(s *ImageSpec, records []pipeline.Record, width, height int) {
	n := len(records)
	b.Epoch = records[0].Epoch
	b.Shape = append(b.Shape[:0], n)
	if s.images() > 1 {
		b.Shape = append(b.Shape, s.images())
	}
	frames := 1
	if s.Steps != columns.NoSteps {
		b.clips = s.locate(records, width, height)
		b.Lengths = b.clips.lengths(b.Lengths[:0])
		frames = b.clips.frames
		b.Shape = append(b.Shape, frames)
	}
	if s.NCHW {
		b.Shape = append(b.Shape, s.Channels, height, width)
	} else {
		b.Shape = append(b.Shape, height, width, s.Channels)
	}
	b.DType = s.DType
	samples := n * s.images() * frames * width * height * s.Channels
	switch s.DType {
	case Uint8:
		b.Bytes = flows.Resized(b.Bytes, samples)
	case Float32:
		b.Pixels = flows.Resized(b.Pixels, samples)
	default:
		b.Halves = flows.Resized(b.Halves, samples)
	}
	if s.MaskKey != "" {
		b.Masks = flows.Resized(b.Masks, n*frames*width*height)
	}
	if !s.NoLabels {
		b.Labels = flows.Resized(b.Labels, n)
	}
	if s.Objects != nil {
		b.objects = slices.Grow(b.objects[:0], n)[:n]
		if s.Objects.Masks && s.Objects.MaxBoxes == 0 {
			b.limitMasks(s, records, width, height)
		}
	}
	if s.backendDecodes() {
		b.Decoders = flows.Resized(b.Decoders, n*s.images()*frames)
		clear(b.Decoders)
	}
}

// remove removes the images of bad records, given by row, from the batch.
func (b *ImageBatch) remove(bad []bool) {
	n := 0
	for _, bad := range bad {
		if !bad {
			n++
		}
	}
	if n == len(bad) {
		return
	}
	b.Pixels = keepRows(b.Pixels, bad)
	b.Bytes = keepRows(b.Bytes, bad)
	b.Halves = keepRows(b.Halves, bad)
	b.Masks = keepRows(b.Masks, bad)
	b.Labels = keepRows(b.Labels, bad)
	b.Lengths = keepRows(b.Lengths, bad)
	b.Decoders = keepRows(b.Decoders, bad)
	b.Shape[0] = n
}

// keepRows moves the rows of s that are not bad together.
func keepRows[V any](s []V, bad []bool) []V {
	size, to := len(s)/len(bad), 0
	for i, bad := range bad {
		if bad {
			continue
		}
		if to != i*size {
			copy(s[to:], s[i*size:][:size])
		}
		to += size
	}
	return s[:to]
}

// Clone returns a copy of the batch that stays valid, with its State.
func (b *ImageBatch) Clone() *ImageBatch {
	d := *b
	d.Shape, d.Pixels, d.Bytes, d.Labels = slices.Clone(b.Shape), slices.Clone(b.Pixels), slices.Clone(b.Bytes), slices.Clone(b.Labels)
	d.Halves, d.Masks, d.SoftLabels = slices.Clone(b.Halves), slices.Clone(b.Masks), slices.Clone(b.SoftLabels)
	d.Lengths = slices.Clone(b.Lengths)
	d.Decoders, d.Objects, d.Columns = slices.Clone(b.Decoders), b.Objects.Clone(), b.Columns.Clone()
	d.imageWork = imageWork{}
	d.place = flows.CopyPlace(&b.place)
	return &d
}

// poison overwrites pixels, labels, objects and columns.
func (b *ImageBatch) poison() {
	pipeline.Fill(b.Pixels, pipeline.PoisonFloat)
	pipeline.Fill(b.Bytes, pipeline.PoisonByte)
	pipeline.Fill(b.Halves, pipeline.PoisonHalf)
	pipeline.Fill(b.Masks, pipeline.PoisonByte)
	pipeline.Fill(b.Labels, pipeline.PoisonInt64)
	pipeline.Fill(b.Lengths, pipeline.PoisonInt64)
	pipeline.Fill(b.SoftLabels, pipeline.PoisonFloat)
	pipeline.PoisonObjects(&b.Objects)
	pipeline.PoisonColumns(&b.Columns)
}
