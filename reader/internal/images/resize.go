package images

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/codec/rawpixels"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

// ResizeOptions are the options of ResizeImages.
type ResizeOptions struct {
	// Resize is the size of the images in the records, such as augment.ResizeSpec{Width: 256, Height:
	// 256, Fit: augment.Shorter, NoUpscale: true}. Required.
	Resize augment.ResizeSpec
	// ImageKey is the feature with the encoded image. Default: DefaultImageKey.
	ImageKey string
	// Quality of the JPEGs, 1 to 100. Default: 95.
	Quality int
	// Codec decodes and encodes. Default: augment.NewCodec without options.
	Codec *augment.Codec
	// Workers is the number of goroutines. Default: chosen as it runs.
	Workers int
}

// complete fills in defaults and returns an error for invalid options.
func (o *ResizeOptions) complete() error {
	o.ImageKey, o.Quality = cmp.Or(o.ImageKey, DefaultImageKey), cmp.Or(o.Quality, 95)
	if o.Codec == nil {
		var err error
		if o.Codec, err = augment.NewCodec(augment.CodecOptions{}); err != nil {
			return err
		}
	}
	switch {
	case o.Quality < 1 || o.Quality > 100:
		return fmt.Errorf("a Quality of %d: want 1 to 100", o.Quality)
	case o.Resize.Square == 0 && o.Resize.Width == 0:
		return fmt.Errorf("want the size of the images in Resize")
	}
	return o.Resize.Validate()
}

// ResizeImages adds a stage that resizes the images of records, and stores them as JPEG.
func ResizeImages(before *pipeline.Link, o ResizeOptions, memory int64) *pipeline.Link {
	err := o.complete()
	if err != nil {
		return before.Then("resize_images", func(*pipeline.Run, pipeline.Stage) (pipeline.Stage, error) {
			return nil, fmt.Errorf("reader: ResizeImages: %w", err)
		})
	}
	name := fmt.Sprintf("resize_images(%s,%+v,quality=%d,codec=%v)", o.ImageKey, o.Resize, o.Quality, o.Codec)
	gate := par.NewBudget(memory)
	free := sync.Pool{New: func() any { return &imageResizer{o: &o, gate: gate} }}
	return stages.KnownMap(before, name, func(dst []byte, r pipeline.Record) ([]byte, error) {
		x := free.Get().(*imageResizer)
		defer free.Put(x)
		return x.appendResized(dst, r.Data)
	}, pipeline.MapDataOptions{Workers: o.Workers})
}

// imageResizer resizes the images of one record at a time.
type imageResizer struct {
	o    *ResizeOptions
	gate *par.Budget // memory of the images of all workers

	example     tfrecord.Example
	builder     tfrecord.Builder
	full, small augment.Image
	scratch     augment.Scratch
	jpeg        []byte
}

// appendResized appends a record with its image resized. One that has the size already stays as it is.
func (x *imageResizer) appendResized(dst, record []byte) ([]byte, error) {
	if err := x.example.Parse(record); err != nil {
		return nil, err
	}
	features := &x.example.Features
	f, _ := features.Get(x.o.ImageKey)
	data, err := encoded(f)
	if err == nil {
		err = x.check(features)
	}
	if err != nil {
		return nil, fmt.Errorf("feature %q: %w", x.o.ImageKey, err)
	}
	resized, err := x.resize(data)
	if err != nil {
		return nil, fmt.Errorf("feature %q: %w", x.o.ImageKey, err)
	}
	if !resized {
		return append(dst, record...), nil
	}
	return x.rebuild(dst, features), nil
}

// check refuses records of which other features depend on the size of the image.
func (x *imageResizer) check(features *tfrecord.Features) error {
	if f, ok := features.Get(imagekey.Format); ok {
		if format, _ := f.Bytes(); rawpixels.SampleBytes(string(format)) > 0 {
			return fmt.Errorf("its image is stored as %s samples: resize encoded images", format)
		}
	}
	for i := range features.Len() {
		key, f := features.At(i)
		if (bytes.HasPrefix(key, []byte(objects.KeyPrefix)) || string(key) == objects.KeySegmentation) && f.Len() > 0 {
			return fmt.Errorf("the record has %s, which would no longer match: convert images resizes objects and masks with their images", key)
		}
	}
	return nil
}

// resize makes the JPEG of an image; false if the image is a JPEG that has the size already.
func (x *imageResizer) resize(data []byte) (bool, error) {
	o := x.o
	info, err := o.Codec.Stat(data)
	if err != nil {
		return false, err
	}
	w, h := info.Oriented()
	g := o.Resize.Geometry(w, h)
	same := g.ScaledWidth == w && g.ScaledHeight == h && g.Width == w && g.Height == h && g.WindowWidth == w && g.WindowHeight == h
	if same && info.Keepable && info.Format == augment.JPEG && info.Orientation == 1 {
		return false, nil
	}
	if err := x.gate.Acquire(context.Background(), info.Memory()); err != nil {
		return false, err
	}
	defer x.gate.Release(info.Memory())
	var d augment.DecodeOptions
	d.MinWidth, d.MinHeight = o.Resize.MinDecode(w, h)
	if _, err := o.Codec.Decode(&x.full, data, d); err != nil {
		return false, err
	}
	if err := o.Resize.Apply(&x.small, &x.full, &x.scratch); err != nil {
		return false, err
	}
	x.jpeg, err = o.Codec.AppendJPEG(x.jpeg[:0], &x.small, o.Quality, "420")
	x.scratch.Trim()
	return true, err
}

// rebuild appends the record with the JPEG, and what describes it where the record has that.
func (x *imageResizer) rebuild(dst []byte, features *tfrecord.Features) []byte {
	x.builder.Reset()
	for i := range features.Len() {
		key, f := features.At(i)
		switch name := string(key); {
		case name == x.o.ImageKey:
			x.builder.Bytes(name, x.jpeg)
		case x.o.ImageKey != imagekey.Encoded: // what describes another image
			x.builder.Feature(name, f)
		case name == imagekey.Height:
			x.builder.Int64(name, int64(x.small.Height))
		case name == imagekey.Width:
			x.builder.Int64(name, int64(x.small.Width))
		case name == imagekey.Channels:
			x.builder.Int64(name, int64(x.small.Channels))
		case name == imagekey.Orientation:
			x.builder.Int64(name, 1)
		case name == imagekey.Format:
			x.builder.String(name, string(augment.JPEG))
		default:
			x.builder.Feature(name, f)
		}
	}
	return x.builder.Append(dst)
}
