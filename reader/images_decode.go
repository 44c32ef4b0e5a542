package reader

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/decodeplan"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/tfrecord"
)

// imageDecoder decodes records into images. Each worker has one.
type imageDecoder struct {
	spec          *ImageSpec
	run           *run
	gate          *par.Budget // shared by all workers
	table         *[3][256]float32
	width, height int

	example tfrecord.Example
	planar  augment.Planes
	decoded augment.Image
	drawn   augment.Image
	resized augment.Image
	scratch augment.Scratch
}

// decode writes the image and the label of a record to row i of a batch.
func (d *imageDecoder) decode(b *ImageBatch, i int, record Record) error {
	if err := d.example.Parse(record.Data); err != nil {
		return err
	}
	if !d.spec.NoLabels {
		f, _ := d.example.Get(d.spec.LabelKey)
		label, ok := f.Int64()
		if !ok || f.Len() != 1 {
			return fmt.Errorf("feature %q: want one int64 for a label; it has %s of kind %v", d.spec.LabelKey, plural.Of(f.Len(), "value"), f.Kind())
		}
		b.Labels[i] = label
	}
	f, _ := d.example.Get(d.spec.ImageKey)
	data, ok := f.Bytes()
	if !ok || f.Len() != 1 {
		return fmt.Errorf("feature %q: want an image; it has %s of kind %v", d.spec.ImageKey, plural.Of(f.Len(), "value"), f.Kind())
	}
	var err error
	if f, _ := d.example.Get("image/format"); isFloats(f) {
		err = d.floats(b, i, data)
	} else {
		err = d.image(b, i, data, record)
	}
	if err != nil {
		return fmt.Errorf("feature %q: %w", d.spec.ImageKey, err)
	}
	return nil
}

// image decodes, augments and resizes an image and writes it to row i.
func (d *imageDecoder) image(b *ImageBatch, i int, data []byte, record Record) error {
	s := d.spec
	n := d.width * d.height * s.Channels
	target := &d.resized
	if s.DType == Uint8 && !s.NCHW {
		// Directly into the tensor: the length is just enough, and the capacity protects the next
		// row.
		target = &augment.Image{Pix: b.Bytes[i*n : (i+1)*n : (i+1)*n]}
	}
	if err := d.render(target, data, record); err != nil {
		return err
	}
	if target.Width != d.width || target.Height != d.height || target.Channels != s.Channels {
		return fmt.Errorf("%dx%dx%d pixels; want %dx%dx%d", target.Width, target.Height, target.Channels, d.width, d.height, s.Channels)
	}
	switch {
	case s.DType == Float32 && s.NCHW:
		d.planes(b.Pixels[i*n:(i+1)*n], target)
	case s.DType == Float32:
		d.pixels(b.Pixels[i*n:(i+1)*n], target)
	case s.NCHW:
		bytePlanes(b.Bytes[i*n:(i+1)*n], target)
	case target.Stride != d.width*s.Channels || &target.Pix[0] != &b.Bytes[i*n]:
		for y := range d.height {
			copy(b.Bytes[i*n+y*d.width*s.Channels:], target.Row(y))
		}
	}
	return nil
}

// render decodes and transforms an image into target: in planes until it has its final size, where
// the steps allow that.
func (d *imageDecoder) render(target *augment.Image, data []byte, record Record) error {
	if f, ok := d.example.Get("image/format"); ok {
		if format, _ := f.Bytes(); string(format) == "raw" {
			if err := d.raw(data); err != nil {
				return err
			}
			im := &d.decoded
			return d.finish(target, im, d.draw(record, im.Width, im.Height), im.Width, im.Height)
		}
	}
	s := d.spec
	info, err := s.Codec.Stat(data)
	if err != nil {
		return err
	}
	if err := d.gate.Acquire(context.Background(), info.Memory()); err != nil {
		return err
	}
	defer d.release(info.Memory())
	w, h := info.Oriented()
	draw := d.draw(record, w, h)
	plan := s.decoding().For(info, draw)
	if !plan.Planes {
		if _, err := s.Codec.Decode(&d.decoded, data, plan.Options); err != nil {
			return err
		}
		return d.finish(target, &d.decoded, draw, w, h)
	}
	if _, err := s.Codec.DecodePlanes(&d.planar, data, plan.Options); err != nil {
		return err
	}
	if len(draw.Steps) == 0 {
		return s.Resize.RenderRGB(target, &d.planar, s.Resize.Geometry(w, h), &d.scratch)
	}
	d.scratch.Codec = s.Codec
	if err := draw.ApplyPlanes(&d.drawn, &d.planar, &d.scratch); err != nil {
		return err
	}
	return s.Resize.Apply(target, &d.drawn, &d.scratch)
}

// decoding returns the settings that decide how images are decoded.
func (s *ImageSpec) decoding() decodeplan.Spec {
	return decodeplan.Spec{Codec: s.Codec, Resize: &s.Resize, Channels: s.Channels, ExactPixels: s.ExactPixels, Trusted: !s.Check}
}

// release ends the work on an image that took this many bytes. The buffers that all workers keep
// for the next image take at most an eighth of the memory together.
func (d *imageDecoder) release(bytes int64) {
	p := &d.planar
	kept := cap(p.Y.Pix) + cap(p.Cb.Pix) + cap(p.Cr.Pix) + cap(d.decoded.Pix) + cap(d.drawn.Pix)
	if o := &d.run.set.opts; int64(kept) > o.Memory/8/int64(o.Parallelism) {
		*p, d.decoded, d.drawn = augment.Planes{}, augment.Image{}, augment.Image{}
	}
	d.scratch.Trim()
	d.gate.Release(bytes)
}

// draw draws the augmentation for the image of a record, of w by h pixels.
func (d *imageDecoder) draw(record Record, w, h int) augment.Draw {
	if d.spec.Policy == nil {
		return augment.Draw{}
	}
	key := fmt.Sprintf("%s#%d", filepath.Base(d.run.set.Path(record)), record.Number)
	return d.spec.Policy.Draw(d.run.set.opts.Seed, key, int(record.Epoch), w, h)
}

// finish applies the drawn steps to an image of w by h pixels, which may have been decoded at
// reduced size if there are none, and resizes it.
func (d *imageDecoder) finish(target, im *augment.Image, draw augment.Draw, w, h int) error {
	if len(draw.Steps) > 0 {
		d.scratch.Codec = d.spec.Codec
		if err := draw.Apply(&d.drawn, im, &d.scratch); err != nil {
			return err
		}
		im = &d.drawn
		w, h = im.Width, im.Height
	}
	return d.spec.Resize.Render(target, im, d.spec.Resize.Geometry(w, h), &d.scratch)
}

// isFloats reports whether an image/format is that of normalised samples.
func isFloats(f tfrecord.Feature) bool {
	format, _ := f.Bytes()
	return string(format) == "float32"
}

// floats copies samples that were normalised before they were stored. They can no longer be
// resized.
func (d *imageDecoder) floats(b *ImageBatch, i int, data []byte) error {
	h, w, c, err := d.stored(len(data) / 4)
	if err != nil {
		return err
	}
	s := d.spec
	if s.DType != Float32 || s.Policy != nil || h != d.height || w != d.width || c != s.Channels || len(data) != 4*h*w*c {
		return fmt.Errorf("its samples are float32, %dx%dx%d: they can only be read as float32, without a policy", h, w, c)
	}
	dst := b.Pixels[i*h*w*c:][:h*w*c]
	for at := range dst {
		x := math.Float32frombits(binary.LittleEndian.Uint32(data[4*at:]))
		if s.NCHW {
			dst[at%c*h*w+at/c] = x
		} else {
			dst[at] = x
		}
	}
	return nil
}

// raw uses stored pixels as an image.
func (d *imageDecoder) raw(data []byte) error {
	h, w, c, err := d.stored(len(data))
	if err != nil {
		return err
	}
	im := augment.Image{Pix: data, Width: w, Height: h, Channels: c, Stride: w * c}
	switch {
	case c == d.spec.Channels:
		d.decoded.Reset(w, h, c)
		copy(d.decoded.Pix, data)
		return nil
	case c == 1:
		return augment.ToRGB(&d.decoded, &im)
	default:
		return augment.ToGray(&d.decoded, &im)
	}
}

// stored returns the size that a record gives for this many stored samples.
func (d *imageDecoder) stored(samples int) (h, w, c int, err error) {
	var size [3]int64
	for i, key := range []string{"image/height", "image/width", "image/channels"} {
		f, _ := d.example.Get(key)
		n, ok := f.Int64()
		if !ok || n < 1 || n > augment.MaxSide {
			return 0, 0, 0, fmt.Errorf("stored samples without a sensible %q", key)
		}
		size[i] = n
	}
	h, w, c = int(size[0]), int(size[1]), int(size[2])
	if c != 1 && c != 3 || samples/w/c != h || samples != h*w*c {
		return 0, 0, 0, fmt.Errorf("%d stored samples are not %dx%dx%d", samples, h, w, c)
	}
	return h, w, c, nil
}

// pixels writes normalised samples, channels last.
func (d *imageDecoder) pixels(dst []float32, im *augment.Image) {
	t := d.table
	for y := range im.Height {
		row := im.Row(y)
		out := dst[y*len(row):][:len(row)]
		if im.Channels == 1 {
			for i, x := range row {
				out[i] = t[0][x]
			}
			continue
		}
		// Four pixels at a time, in arrays: no bounds to check.
		for ; len(row) >= 12 && len(out) >= 12; row, out = row[12:], out[12:] {
			r, o := (*[12]uint8)(row), (*[12]float32)(out)
			o[0], o[1], o[2] = t[0][r[0]], t[1][r[1]], t[2][r[2]]
			o[3], o[4], o[5] = t[0][r[3]], t[1][r[4]], t[2][r[5]]
			o[6], o[7], o[8] = t[0][r[6]], t[1][r[7]], t[2][r[8]]
			o[9], o[10], o[11] = t[0][r[9]], t[1][r[10]], t[2][r[11]]
		}
		for ; len(row) >= 3 && len(out) >= 3; row, out = row[3:], out[3:] {
			out[0], out[1], out[2] = t[0][row[0]], t[1][row[1]], t[2][row[2]]
		}
	}
}

// planes writes normalised samples, channels first.
func (d *imageDecoder) planes(dst []float32, im *augment.Image) {
	size := im.Width * im.Height
	for c := range im.Channels {
		t, plane := &d.table[c], dst[c*size:][:size]
		for y := range im.Height {
			row, out := im.Row(y), plane[y*im.Width:][:im.Width]
			for x := range out {
				out[x] = t[row[x*im.Channels+c]]
			}
		}
	}
}

// bytePlanes writes samples, channels first.
func bytePlanes(dst []uint8, im *augment.Image) {
	size := im.Width * im.Height
	for c := range im.Channels {
		plane := dst[c*size:][:size]
		for y := range im.Height {
			row, out := im.Row(y), plane[y*im.Width:][:im.Width]
			for x := range out {
				out[x] = row[x*im.Channels+c]
			}
		}
	}
}
