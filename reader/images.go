package reader

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/par"
)

// DType is the type of the samples of an image.
type DType uint8

// The types of samples.
const (
	Uint8   DType = iota // 0 to 255, as decoded
	Float32              // normalised, see ImageSpec.Normalize
)

// String returns uint8 or float32.
func (d DType) String() string {
	switch d {
	case Uint8:
		return "uint8"
	case Float32:
		return "float32"
	}
	return fmt.Sprintf("DType(%d)", uint8(d))
}

// Default keys of images and labels, as in `tfrec convert images` and TFDS.
const (
	DefaultImageKey = "image/encoded"
	DefaultLabelKey = "image/class/label"
)

// ImageSpec configures how records become batches of images.
type ImageSpec struct {
	// Size of the images, in pixels: the shorter side becomes Size and the longer one is cropped to
	// its middle. Use Resize for anything else.
	Size int
	// Resize brings all images to one size; it decides about Antialias. Its Fit is Stretch, Crop or
	// Pad, or Square is set, all without NoUpscale. Default: Square of Size, bilinear, with
	// antialias.
	Resize augment.ResizeSpec
	// Channels is 3 for RGB or 1 for grayscale. Default: 3.
	Channels int
	// DType of the samples. Default: Uint8.
	DType DType
	// Normalize converts samples to Float32: (x/255 - Mean) / Std, or x/255 for its zero value.
	Normalize augment.Normalize
	// NCHW puts the channels before height and width. Default: NHWC.
	NCHW bool
	// Batch is the number of images in a batch. Default: 1.
	Batch int
	// DropRemainder drops a smaller last batch.
	DropRemainder bool
	// Policy, if not nil, draws random steps for each image, before it is resized. They depend only
	// on the seed of the set, the epoch, and the record's file name and number, so that resuming
	// repeats them.
	Policy *augment.Policy
	// ImageKey is the feature with the encoded image, or with its raw pixels if "image/format" is
	// "raw" or "float32"; LabelKey is the feature with the label. Default: DefaultImageKey and
	// DefaultLabelKey.
	ImageKey, LabelKey string
	// NoLabels omits labels. Otherwise a record without a label is an error.
	NoLabels bool
	// Codec decodes. Default: that of package augment, which limits the pixels of an image
	// ([augment.CodecOptions.MaxPixels]) and refuses arithmetic coding. Images decoded at the same
	// time take at most [Options].Memory together, in addition to what that accounts for; an image
	// that takes more is decoded alone.
	Codec *augment.Codec
	// ExactPixels decodes at full size and to RGB before anything else. Default: images are resized
	// in YCbCr as stored and converted when they are small, and large ones are decoded at reduced
	// size; package augment documents how little the pixels differ. The choice depends only on the
	// image's header and this spec.
	ExactPixels bool
	// Check checks all of every JPEG for damage. Default: if the first step of a Policy crops an
	// image, the data after the crop are not checked. The checksum of the record shows that they
	// are as stored, and convert checked them.
	Check bool
	// Workers is the number of images decoded concurrently. Default: chosen as it runs, up to the
	// Parallelism of the set.
	Workers int
}

// ImageBatch is a batch of images as one tensor. It is valid until the next batch is requested,
// which reuses its memory: keep a Clone.
type ImageBatch struct {
	// Shape is {n, height, width, channels}, or {n, channels, height, width}
	// with NCHW.
	Shape []int
	// DType says which slice has the samples: Pixels for Float32, Bytes for Uint8, contiguous and
	// in the order of Shape. A tensor library may use the slice without a copy.
	DType  DType
	Pixels []float32
	Bytes  []uint8
	// Labels are the labels of the images, in order.
	Labels []int64
	// Epoch is the epoch of the first record (see [Record.Epoch]).
	Epoch int32

	mark mark
}

// State returns the state of a consumer that has received this batch and all before it.
func (b *ImageBatch) State() State { return b.mark.state() }

// Images describes batches of images, decoded in advance and in order, each directly into its row
// of the tensor. An image that cannot be decoded ends the flow with the record's file, number and
// offset, unless [SkipBad] allows skipping it.
func Images(p Pipe, spec ImageSpec) Flow[*ImageBatch] {
	return Flow[*ImageBatch]{func(ctx context.Context, from origin) (source[*ImageBatch], error) {
		w, err := spec.works()
		if err != nil {
			return nil, err
		}
		return openWorkers(ctx, p, from, func(r *run) (workerSpec[*ImageBatch], error) { return w(r), nil })
	}}
}

// normal validates the spec and fills in the defaults.
func (s ImageSpec) normal() (ImageSpec, error) {
	if s.Batch == 0 {
		s.Batch = 1
	}
	if s.Channels == 0 {
		s.Channels = 3
	}
	if s.ImageKey == "" {
		s.ImageKey = DefaultImageKey
	}
	if s.LabelKey == "" {
		s.LabelKey = DefaultLabelKey
	}
	if s.Resize == (augment.ResizeSpec{}) {
		s.Resize = augment.ResizeSpec{Square: s.Size, Antialias: true}
	} else if s.Size != 0 {
		return s, errors.New("images: Size and Resize are both given")
	}
	switch {
	case s.Channels != 1 && s.Channels != 3:
		return s, fmt.Errorf("images: %d channels: want 1 or 3", s.Channels)
	case s.DType > Float32:
		return s, fmt.Errorf("images: %v: want uint8 or float32", s.DType)
	case s.Resize.NoUpscale || s.Resize.Fit == augment.Shorter || s.Resize.Fit == augment.Longer:
		return s, errors.New("images: their sizes would differ: want Fit Stretch, Crop or Pad, without NoUpscale")
	case s.Resize.Square == 0 && s.Resize.Width == 0:
		return s, errors.New("images: want a Size, since all images of a batch have the same")
	}
	if err := checkBatch(s.Batch); err != nil {
		return s, err
	}
	if err := s.Normalize.Validate(); err != nil {
		return s, fmt.Errorf("images: %w", err)
	}
	if err := s.Resize.Validate(); err != nil {
		return s, fmt.Errorf("images: %w", err)
	}
	if s.Codec == nil {
		codec, err := augment.NewCodec(augment.CodecOptions{})
		if err != nil {
			return s, err
		}
		s.Codec = codec
	}
	return s, nil
}

// works returns the stage that makes the batches.
func (s ImageSpec) works() (func(r *run) workerSpec[*ImageBatch], error) {
	s, err := s.normal()
	if err != nil {
		return nil, err
	}
	side := s.Resize.Square
	width, height := max(s.Resize.Width, side), max(s.Resize.Height, side)
	if int64(width)*int64(height)*int64(s.Channels)*int64(s.Batch) > maxSamples {
		return nil, fmt.Errorf("images: %d of %dx%dx%d: want %d samples a batch at most", s.Batch, width, height, s.Channels, maxSamples)
	}
	table := s.table()
	return func(r *run) workerSpec[*ImageBatch] {
		gate := par.NewBudget(r.set.opts.Memory)
		return workerSpec[*ImageBatch]{
			name:    "pictures",
			cut:     cutter{size: s.Batch, drop: s.DropRemainder},
			workers: s.Workers,
			part:    1,
			make:    func() *ImageBatch { return &ImageBatch{} },
			mark:    func(b *ImageBatch, m mark) { b.mark = m },
			bytes:   (*ImageBatch).memory,
			poison:  (*ImageBatch).poison,
			begin:   func(b *ImageBatch, records []Record) { b.begin(&s, records, width, height) },
			without: (*ImageBatch).without,
			work: func() func(*ImageBatch, []Record, int, int, func(int, error) bool) {
				d := &imageDecoder{spec: &s, run: r, gate: gate, table: table, width: width, height: height}
				return func(b *ImageBatch, records []Record, from, to int, fail func(int, error) bool) {
					for i := from; i < to; i++ {
						if err := d.decode(b, i, records[i]); err != nil && !fail(i, err) {
							return
						}
					}
				}
			},
		}
	}, nil
}

// maxSamples bounds the number of samples in a batch.
const maxSamples = 1 << 32

// table returns the output value of each sample value, by channel.
func (s *ImageSpec) table() *[3][256]float32 {
	var t [3][256]float32
	for c := range t {
		for x := range t[c] {
			t[c][x] = s.Normalize.Of(uint8(x), c)
		}
	}
	return &t
}

// memory is the size of the batch in bytes.
func (b *ImageBatch) memory() int64 {
	return int64(4*cap(b.Pixels) + cap(b.Bytes) + 8*cap(b.Labels))
}

// begin makes room for the images of records.
func (b *ImageBatch) begin(s *ImageSpec, records []Record, width, height int) {
	n := len(records)
	b.Epoch = records[0].Epoch
	if s.NCHW {
		b.Shape = append(b.Shape[:0], n, s.Channels, height, width)
	} else {
		b.Shape = append(b.Shape[:0], n, height, width, s.Channels)
	}
	b.DType = s.DType
	samples := n * width * height * s.Channels
	if s.DType == Float32 {
		b.Pixels = resized(b.Pixels, samples)
	} else {
		b.Bytes = resized(b.Bytes, samples)
	}
	if !s.NoLabels {
		b.Labels = resized(b.Labels, n)
	}
}

// without removes the images of bad records from the batch.
func (b *ImageBatch) without(faults []workFault, _ skipCount) (left int) {
	n := b.Shape[0]
	left = n - len(faults)
	b.Pixels = withoutRows(b.Pixels, n, faults)
	b.Bytes = withoutRows(b.Bytes, n, faults)
	b.Labels = withoutRows(b.Labels, n, faults)
	b.Shape[0] = left
	return left
}

// withoutRows removes the bad rows of the n in s, moving the others together.
func withoutRows[V any](s []V, n int, faults []workFault) []V {
	size := len(s) / n
	to := faults[0].record * size
	for i, f := range faults {
		end := n
		if i+1 < len(faults) {
			end = faults[i+1].record
		}
		to += copy(s[to:], s[(f.record+1)*size:end*size])
	}
	return s[:to]
}

// resized returns s with n elements of unspecified value.
func resized[V any](s []V, n int) []V {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]V, n)
}
