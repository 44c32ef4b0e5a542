package reader

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/par"
)

// DType is what the samples of an image become.
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

// Keys of images and labels, as `tfrec convert images` and TFDS name them.
const (
	DefaultImageKey = "image/encoded"
	DefaultLabelKey = "image/class/label"
)

// ImageSpec says how records become batches of images.
type ImageSpec struct {
	// Size of the images, in pixels: the shorter side becomes Size, and of
	// the longer the middle is kept. Resize takes its place where that is not
	// what is wanted.
	Size int
	// Resize brings all images to one size; Antialias is up to it. Its Fit
	// is Stretch, Crop or Pad, or Square is set, all without NoUpscale.
	// Default: Square of Size, bilinear, with antialias.
	Resize augment.ResizeSpec
	// Channels is 3 for RGB or 1 for grayscale. Default: 3.
	Channels int
	// DType of the samples. Default: Uint8.
	DType DType
	// Normalize makes Float32 of samples: (x/255 - Mean) / Std, and x/255 for
	// its zero value.
	Normalize augment.Normalize
	// NCHW puts the channels before height and width. Default: after, NHWC.
	NCHW bool
	// Batch is how many images a batch has. Default: 1.
	Batch int
	// DropRemainder leaves out a last batch that is smaller.
	DropRemainder bool
	// Policy, when not nil, draws random steps for each image, before it is
	// resized. They depend on the seed of the set, on the epoch and on the
	// record's file name and number alone, so that resuming repeats them.
	Policy *augment.Policy
	// ImageKey is the feature that holds the encoded image, or its raw
	// pixels where "image/format" says "raw" or "float32"; LabelKey that of
	// the label. Default: DefaultImageKey and DefaultLabelKey.
	ImageKey, LabelKey string
	// NoLabels leaves labels out. Otherwise a record without is an error.
	NoLabels bool
	// Codec decodes. Default: augment's own default, which bounds the pixels of an image
	// ([augment.CodecOptions.MaxPixels]) and refuses arithmetic coding. Images that are decoded at
	// the same time take no more than [Options].Memory together, beside what that accounts for; one
	// that takes more is decoded alone.
	Codec *augment.Codec
	// ExactPixels decodes at full size and to RGB before anything else is
	// done. Default: images are resized as they are stored, in YCbCr, and
	// converted when they are small, and large ones are decoded at a part of
	// their size; package augment says by how little the pixels differ. Which
	// way an image takes follows from its header and this spec alone.
	ExactPixels bool
	// Check searches all of every JPEG for damage. Default: where the first step of
	// a Policy cuts a part out of an image, the data after that part are not
	// searched. The checksum of the record says that they are those that were
	// stored, and convert had searched them.
	Check bool
	// Workers is how many images are decoded at a time. Default: chosen as it
	// runs, up to the Parallelism of the set.
	Workers int
}

// ImageBatch is a batch of images as one tensor. It is valid until the next
// batch is asked for; its memory is then used again.
type ImageBatch struct {
	// Shape is {n, height, width, channels}, or {n, channels, height, width}
	// with NCHW.
	Shape []int
	// DType says which of the two has the samples: Pixels those of Float32,
	// Bytes those of Uint8, in the order of Shape with nothing between them. A
	// tensor library may take the slice as it is.
	DType  DType
	Pixels []float32
	Bytes  []uint8
	// Labels are those of the images.
	Labels []int64
	// Epoch is that of the first record (see [Record.Epoch]).
	Epoch int32

	mark mark
}

// State returns the state of a consumer that has received this batch and all
// before.
func (b *ImageBatch) State() State { return b.mark.state() }

// Images describes batches of images, decoded ahead and in order, each
// straight into its place in the tensor. What can't be decoded ends the flow,
// with the record's file, number and offset, unless [SkipBad] lets it pass over
// the record.
func Images(p Pipe, spec ImageSpec) Flow[*ImageBatch] {
	return Flow[*ImageBatch]{func(ctx context.Context, from origin) (source[*ImageBatch], error) {
		w, err := spec.works()
		if err != nil {
			return nil, err
		}
		return openWorkers(ctx, p, from, func(r *run) (workerSpec[*ImageBatch], error) { return w(r), nil })
	}}
}

// normal fills in the defaults and checks what was given.
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
		return s, errors.New("images:  Size and Resize are both given")
	}
	switch {
	case s.Channels != 1 && s.Channels != 3:
		return s, fmt.Errorf("images:  %d channels: want 1 or 3", s.Channels)
	case s.DType > Float32:
		return s, fmt.Errorf("images:  %v: want uint8 or float32", s.DType)
	case s.Resize.NoUpscale || s.Resize.Fit == augment.Shorter || s.Resize.Fit == augment.Longer:
		return s, errors.New("images:  their sizes would differ: want Fit Stretch, Crop or Pad, without NoUpscale")
	case s.Resize.Square == 0 && s.Resize.Width == 0:
		return s, errors.New("images:  want a Size, since all images of a batch have the same")
	}
	if err := checkBatch(s.Batch); err != nil {
		return s, err
	}
	if err := s.Normalize.Validate(); err != nil {
		return s, fmt.Errorf("images:  %w", err)
	}
	if err := s.Resize.Validate(); err != nil {
		return s, fmt.Errorf("images:  %w", err)
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
		return nil, fmt.Errorf("images:  %d of %dx%dx%d: want %d samples a batch at most", s.Batch, width, height, s.Channels, maxSamples)
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

// maxSamples bounds the samples of a batch.
const maxSamples = 1 << 32

// table holds what each sample becomes, by channel.
func (s *ImageSpec) table() *[3][256]float32 {
	var t [3][256]float32
	for c := range t {
		for x := range t[c] {
			t[c][x] = s.Normalize.Of(uint8(x), c)
		}
	}
	return &t
}

// memory is how many bytes the batch has.
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

// without takes images out of the batch.
func (b *ImageBatch) without(faults []workFault, _ skipCount) (left int) {
	n := b.Shape[0]
	left = n - len(faults)
	b.Pixels = withoutRows(b.Pixels, n, faults)
	b.Bytes = withoutRows(b.Bytes, n, faults)
	b.Labels = withoutRows(b.Labels, n, faults)
	b.Shape[0] = left
	return left
}

// withoutRows moves the rows of s, n in all, together over those that are bad.
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

// resized returns s with n elements of any value.
func resized[V any](s []V, n int) []V {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]V, n)
}
