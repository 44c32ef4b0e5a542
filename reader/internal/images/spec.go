package images

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// DType is the type of the samples of an image.
type DType uint8

// The types of samples.
const (
	Uint8    DType = iota // 0 to 255, as decoded
	Float32               // normalised, see ImageSpec.Normalize
	Float16               // Float32 rounded to IEEE 754 half precision, halves to even
	BFloat16              // Float32 rounded to its upper 16 bits, halves to even
)

// String returns the name in NumPy and PyTorch, such as uint8 or bfloat16.
func (d DType) String() string {
	if names := [...]string{"uint8", "float32", "float16", "bfloat16"}; int(d) < len(names) {
		return names[d]
	}
	return fmt.Sprintf("DType(%d)", uint8(d))
}

// half returns the conversion to Float16 or BFloat16.
func (d DType) half() func(float32) uint16 {
	if d == Float16 {
		return Float16Of
	}
	return BFloat16Of
}

// Default keys of images and labels, as in `tfrec convert images` and TFDS.
const (
	DefaultImageKey = imagekey.Encoded
	DefaultLabelKey = imagekey.Label
)

// ImageSpec configures how records become batches of images.
type ImageSpec struct {
	// Size of the images, in pixels: the shorter side becomes Size and the longer one is cropped to
	// its middle. Use Resize for anything else.
	Size int
	// Resize brings all images to one size. Its Fit is Stretch, Crop or Pad, or Square is set, all
	// without NoUpscale. Default: Square of Size, bilinear, with antialias.
	Resize augment.ResizeSpec
	// Channels is 3 for RGB or 1 for grayscale. Default: 3.
	Channels int
	// DType of the samples. Default: Uint8.
	DType DType
	// Normalize converts samples to floats: (x/255 - Mean) / Std, or x/255 for its zero value,
	// computed as Float32.
	Normalize augment.Normalize
	// NCHW puts the channels before height and width. Default: NHWC.
	NCHW bool
	// Batch is the number of records in a batch. Default: 1.
	Batch int
	// DropRemainder drops a smaller last batch.
	DropRemainder bool
	// Policy, if not nil, draws random steps for each image, before it is resized. They depend only
	// on the seed of the set, the epoch, and the record's file name and number, so that resuming
	// repeats them. Elements of one record in an epoch, such as windows of an episode or copies
	// that a Sampler lists, therefore get the same draw. A Policy that mixes images is an error:
	// use Mix.
	Policy *augment.Policy
	// Mix draws how the images of each batch are mixed with MixUp or CutMix, as
	// torchvision.transforms.v2 does: each image with the one before it, the first with the last,
	// after bad ones were left out. The draw depends on the same values as a Policy's draw for the
	// first record of the batch: batches that begin with elements of one record are mixed alike.
	// MixUp computes Lambda*a + (1-Lambda)*b in float32 and rounds the result to the DType, halves
	// to even.
	Mix augment.Mix
	// Classes is the number of classes that labels count from 0. It adds SoftLabels to the batch;
	// another label is then an error. It cannot be used with NoLabels. Default: 0, without
	// SoftLabels.
	Classes int
	// Steps makes each record a clip of Frames. They are, with columns.ListSteps, in feature lists
	// of a SequenceExample, or, with columns.FlatSteps, in features of several values, as TFDS
	// stores videos and the steps of episodes (RLDS). ImageKey, OtherImageKeys and MaskKey name
	// these lists or features, all with the same number of frames. Other features are of the whole
	// record: the label, and "image/format" with its sizes. Frames of the same size get the same
	// draw of the Policy, and Mix mixes whole clips. The Shape counts the frames before height,
	// width and channels. Default: columns.NoSteps, one image a feature.
	Steps columns.Steps
	// Frames is the number of frames of each clip, if Steps is set. Shorter records are padded with
	// frames whose samples are all 0, of any DType, and whose masks are MaskFill; Lengths of the
	// batch has the numbers of frames before. A longer record is an error: Windows cuts it.
	// [columns.Longest] is the number of frames of the longest record in the batch, at least 1; a
	// batch may then take 1 GiB, and more is a [columns.ErrPadding].
	Frames int
	// ImageKey is the feature with the encoded image, or with its raw pixels if "image/format" is
	// "raw" or "float32"; LabelKey is the feature with the label. Default: DefaultImageKey and
	// DefaultLabelKey.
	ImageKey, LabelKey string
	// OtherImageKeys are features with further images of each record, such as views of other
	// cameras. They are treated alike: images of the same size get the same draw of the Policy.
	// "image/format" applies to all of them. The Shape then counts the images of a record,
	// ImageKey's first, after n.
	OtherImageKeys []string
	// MaskKey is the feature with a mask of the image of ImageKey, such as
	// "image/segmentation/class/encoded": a PNG of the size of the image as stored, before its EXIF
	// orientation, which turns both. Its samples as stored are the classes of pixels, grayscale with
	// 1 to 8 bits a sample, or the indexes of a palette. Others are an error: JPEG is lossy, and 16
	// bits are not kept. Masks are cropped, flipped, rotated and resized as the images are, by taking
	// the nearest pixel; MaskFill is outside of them. They cannot be mixed. Default: no masks.
	MaskKey  string
	MaskFill uint8
	// NoLabels omits labels. Otherwise a record without a label is an error.
	NoLabels bool
	// Objects, if not nil, adds the objects of the image of ImageKey, boxes and labels, from the
	// features of TensorFlow's Object Detection API: "image/object/bbox/xmin", "ymin", "xmax" and
	// "ymax", in shares of the image as stored, and "image/object/class/label". They move with the
	// pixels: orientation, Policy and Resize. A record without these features has none; lists of
	// different lengths, boxes without labels, and boxes that are more than 0.001 outside of 0 to 1
	// are errors of the record. Masks of the spec adds their "image/object/mask": a PNG an object
	// as for MaskKey, of the size of the image as stored, whose pixels that are not 0 are the
	// object. They move like masks of MaskKey, with 0 outside of the image; of an object whose box
	// is in the image, no pixel may be left. An object that is in the batch without its mask, or
	// with one of another size, is an error of the record. Keypoints of the spec adds
	// "image/object/keypoint/x", "y" and "visibility", which move too: in an image that the Policy
	// mirrors, left and right keypoints change places as KeypointFlip or
	// "image/object/keypoint/text" says; it is an error of the record if neither does, or if an
	// object has another number of keypoints. Labels of images are then read only if LabelKey is
	// set. With Mix.MixUp an image has its own objects, then the objects of the image before it;
	// CutMix is an error, and so are Steps. Default: nil, without objects.
	Objects *columns.ObjectSpec
	// Columns are further features, such as several labels or a text. They are parsed as by
	// ParseColumns; a record that does not match them is an error. They are as stored: only Objects
	// move with the pixels. Default: none. Points of 2 numbers, of which each image has another
	// number, become a padded column of the Shape {batch, points, 2} with
	//
	//	columns.Field{Key: "image/points", Kind: tfrecord.KindFloat, Shape: []int{2},
	//		Steps: columns.FlatSteps, Length: columns.Longest, AllowMissing: true}
	//
	// and [columns.Column.Lengths] has their numbers.
	Columns columns.Schema
	// Codec decodes. Default: the one of package augment, which limits the pixels of an image
	// ([augment.CodecOptions.MaxPixels]) and rejects arithmetic coding. Images decoded at the same
	// time take at most Options.Memory together, in addition to what that accounts for; an image
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
	// Backend, if not nil, makes the rows of batches of the decoded images: it applies the steps of
	// the Policy, resizes and, for Float32, normalises them, masks included, up to Batch of
	// [augment.Backend] at a time. All else stays on the CPU: images stored as float32, conversion
	// to Float16, BFloat16 and NCHW bytes, and Mix. The batches have the same bytes with and
	// without it, unless it decodes JPEGs itself: if it has a method
	//
	//	Decoder() string
	//
	// that names its decoder, such as package gpu's with its option Decode, it decodes the ordinary
	// ones ([augment.Info].Usual) after Codec has searched all of their data for damage, to pixels
	// that differ slightly; Decoders of the batch says of which images. A Codec decodes everything
	// else.
	//
	// Each worker decodes images for the next call while others wait for theirs, so that copies to
	// a device overlap its work, and batches are made while earlier ones are used: want 2 Workers
	// or more, and at least the backend's Batch. By default there are 2 more Workers than without a
	// backend. If it is an [augment.HostAllocator], the samples of batches are in its memory. An
	// error of the backend itself ends the flow, whatever SkipBad allows; it is the backend that
	// may continue on the CPU instead (package gpu, unless its option Required is set). It must
	// work until the Stream is closed. Default: augment.CPU.
	Backend augment.Backend
}

// Batches returns batches of images.
func Batches(p stages.Pipe, spec ImageSpec) flows.Flow[*ImageBatch] {
	return func(ctx context.Context, from pipeline.Origin) (flows.Source[*ImageBatch], error) {
		w, err := spec.works()
		if err != nil {
			return nil, err
		}
		return flows.OpenWorkers(ctx, p, from, func(r *pipeline.Run) (flows.WorkerSpec[*ImageBatch], error) { return w(r), nil })
	}
}

// images returns the number of images of a record.
func (s *ImageSpec) images() int { return 1 + len(s.OtherImageKeys) }

// imageKey returns the feature with image k of a record.
func (s *ImageSpec) imageKey(k int) string {
	if k == 0 {
		return s.ImageKey
	}
	return s.OtherImageKeys[k-1]
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
		s.NoLabels = s.NoLabels || s.Objects != nil
	}
	if s.Resize == (augment.ResizeSpec{}) {
		s.Resize = augment.ResizeSpec{Square: s.Size}
	} else if s.Size != 0 {
		return s, errors.New("images: Size and Resize are both given")
	}
	switch {
	case s.Channels != 1 && s.Channels != 3:
		return s, fmt.Errorf("images: %d channels: want 1 or 3", s.Channels)
	case s.DType > BFloat16:
		return s, fmt.Errorf("images: %v: want uint8, float32, float16 or bfloat16", s.DType)
	case s.Resize.NoUpscale || s.Resize.Fit == augment.Shorter || s.Resize.Fit == augment.Longer:
		return s, errors.New("images: their sizes would differ: want Fit Stretch, Crop or Pad, without NoUpscale")
	case s.Resize.Square == 0 && s.Resize.Width == 0:
		return s, errors.New("images: want a Size, since all images of a batch have the same")
	}
	if err := flows.CheckBatch(s.Batch); err != nil {
		return s, err
	}
	if err := s.Normalize.Validate(); err != nil {
		return s, fmt.Errorf("images: %w", err)
	}
	if err := s.Resize.Validate(); err != nil {
		return s, fmt.Errorf("images: %w", err)
	}
	if err := s.Mix.Validate(); err != nil {
		return s, fmt.Errorf("images: %w", err)
	}
	if s.Policy != nil && s.Policy.Mixes() {
		return s, fmt.Errorf("images: the Policy %s mixes images, which is for conversions: set Mix, which mixes those of a batch", s.Policy)
	}
	if slices.Contains(s.OtherImageKeys, "") {
		return s, errors.New("images: a name in OtherImageKeys is empty")
	}
	if err := s.checkFrames(); err != nil {
		return s, err
	}
	if err := s.checkObjects(); err != nil {
		return s, err
	}
	if s.MaskKey != "" && s.Mix != (augment.Mix{}) {
		return s, errors.New("images: masks cannot be mixed: set MaskKey or Mix")
	}
	switch {
	case s.Classes < 0:
		return s, fmt.Errorf("images: %d classes: want their number, or 0 for no SoftLabels", s.Classes)
	case s.Classes > 0 && s.NoLabels:
		return s, errors.New("images: Classes without labels: set Classes or NoLabels")
	case s.Classes > maxSamples/s.Batch:
		return s, fmt.Errorf("images: %d classes in a batch of %d: want %d values a batch at most", s.Classes, s.Batch, maxSamples)
	case s.Columns != nil && len(s.Columns) == 0:
		return s, errors.New("images: Columns without a field: name the features, or leave it nil")
	case s.Columns != nil:
		if err := s.Columns.Validate(); err != nil {
			return s, fmt.Errorf("images: %w", err)
		}
		if err := s.Columns.CheckBatch(s.Batch); err != nil {
			return s, fmt.Errorf("images: %w", err)
		}
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
func (s ImageSpec) works() (func(r *pipeline.Run) flows.WorkerSpec[*ImageBatch], error) {
	s, err := s.normal()
	if err != nil {
		return nil, err
	}
	side := s.Resize.Square
	width, height := max(s.Resize.Width, side), max(s.Resize.Height, side)
	if n := int64(s.Batch) * int64(s.images()) * int64(max(s.Frames, 1)); int64(width)*int64(height)*int64(s.Channels) > maxSamples/n {
		return nil, fmt.Errorf("images: %d of %dx%dx%d: want %d samples a batch at most", n, width, height, s.Channels, maxSamples)
	}
	if o := s.Objects; o != nil && o.Masks && o.MaxBoxes > maxSamples/s.Batch/(width*height) {
		return nil, fmt.Errorf("images: %d records with %d masks of %dx%d: want %d bytes a batch at most", s.Batch, o.MaxBoxes, width, height, maxSamples)
	}
	if s.Frames == columns.Longest && s.mostFrames(s.Batch, width, height) < 1 {
		return nil, fmt.Errorf("images: %w: %d records with a frame of %dx%dx%d: make smaller batches, or set Frames",
			columns.ErrPadding, s.Batch, width, height, s.Channels)
	}
	table := s.table()
	return func(r *pipeline.Run) flows.WorkerSpec[*ImageBatch] {
		gate := par.NewBudget(r.Opts.Memory)
		decoder := func() *imageDecoder {
			return &imageDecoder{spec: &s, run: r, gate: gate, table: table, width: width, height: height, imageTasks: newImageTasks(&s)}
		}
		w := flows.WorkerSpec[*ImageBatch]{
			Name:    "pictures",
			Makes:   s.makes(r),
			Cut:     flows.Cutter{Size: s.Batch, Drop: s.DropRemainder},
			Workers: s.Workers,
			Part:    s.part(),
			Each:    max(s.Frames, 1),
			Waiting: s.waiting(),
			Make: func() *ImageBatch {
				return s.newBatch(s.Batch * s.images() * max(s.Frames, 1) * width * height * s.Channels)
			},
			Free:   (*ImageBatch).freeMemory,
			Mark:   func(b *ImageBatch, m flows.Mark) { b.place = flows.PlaceAt(m) },
			Bytes:  (*ImageBatch).memory,
			Poison: (*ImageBatch).poison,
			Begin:  func(b *ImageBatch, records []pipeline.Record) { b.begin(&s, records, width, height) },
			Finish: func() func(*ImageBatch, []pipeline.Record, []pipeline.WorkFault, func(int, error) bool) {
				return newImageFinisher(&s, r).finish
			},
			Without: func(b *ImageBatch, _ []pipeline.WorkFault, _ pipeline.SkipCount) int { return b.Shape[0] },
			Work: func() func(*ImageBatch, []pipeline.Record, int, int, func(int, error) bool) {
				d := decoder()
				return func(b *ImageBatch, records []pipeline.Record, from, to int, fail func(int, error) bool) {
					d.start(b, fail)
					for i := from; i < to && !d.stopped; i++ {
						if err := d.decode(i, records[i]); err != nil {
							d.fault(i, err)
						}
					}
					d.flush()
				}
			},
		}
		if s.Steps != columns.NoSteps {
			w.Units = func(b *ImageBatch) int { return len(b.clips.units) }
			w.Work = func() func(*ImageBatch, []pipeline.Record, int, int, func(int, error) bool) { return decoder().frames }
		}
		return w
	}, nil
}

// makes describes the settings that the batches depend on.
func (s ImageSpec) makes(r *pipeline.Run) string {
	policy, decoder := s.Policy, s.Codec.String()
	if s.backendDecodes() {
		decoder += "," + s.Backend.(interface{ Decoder() string }).Decoder()
	}
	objects := s.Objects
	s.Policy, s.Codec, s.Backend, s.Objects, s.Workers = nil, nil, nil, nil, 0
	name := fmt.Sprintf("images%+v,decoder=%s", s, decoder)
	if objects != nil {
		name += fmt.Sprintf(",objects=%+v", *objects)
	}
	if policy != nil {
		name += ",policy=" + policy.String()
	}
	if policy != nil || s.Mix != (augment.Mix{}) {
		name += fmt.Sprintf(",seed=%d", r.Opts.Seed)
	}
	return name
}

// maxSamples bounds the number of samples in a batch.
const maxSamples = 1 << 32

// sampleTable has the output value of each sample value, by channel.
type sampleTable struct {
	floats [3][256]float32
	halves [3][256]uint16
}

func (s *ImageSpec) table() *sampleTable {
	var t sampleTable
	half := s.DType.half()
	for c := range t.floats {
		for x := range t.floats[c] {
			t.floats[c][x] = s.Normalize.Of(uint8(x), c)
			t.halves[c][x] = half(t.floats[c][x])
		}
	}
	return &t
}
