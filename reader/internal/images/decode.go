package images

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/codec/decodeplan"
	"github.com/tfrec/tfrec/internal/codec/rawpixels"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// imageDecoder decodes the images of records and has a backend make the rows of batches of them.
// Each worker has one.
type imageDecoder struct {
	spec          *ImageSpec
	run           *pipeline.Run
	gate          *par.Budget // shared by all workers
	table         *sampleTable
	width, height int

	source    imageSource       // the last image
	objects   objects.Objects   // of the record
	keypoints objects.Keypoints // of the objects
	mirrors   objects.Mirrors
	boxes     []augment.Box // theirs, in pixels of the upright image

	example  tfrecord.Example
	features *tfrecord.Features // of the record
	scratch  augment.Scratch

	batch *ImageBatch
	imageTasks
}

// imageSource is an image in a record: its size, upright, the EXIF orientation as stored, and what
// was drawn for it.
type imageSource struct {
	width, height, orientation int
	draw                       augment.Draw
}

// stored returns the size of the image as stored.
func (s *imageSource) stored() (w, h int) {
	if s.orientation >= 5 {
		return s.height, s.width
	}
	return s.width, s.height
}

// decode decodes the images and the label of a record, for row i of the batch. The backend may not
// have made them when it returns.
func (d *imageDecoder) decode(i int, record pipeline.Record) error {
	if err := d.example.Parse(record.Data); err != nil {
		return err
	}
	d.features = &d.example.Features
	if err := d.label(i); err != nil {
		return err
	}
	if d.spec.Objects != nil {
		if err := d.readObjects(i); err != nil {
			return err
		}
	}
	images := d.spec.images()
	for k := range images {
		key := d.spec.imageKey(k)
		err := d.value(i, key, func(data []byte) error { return d.submit(i, i*images+k, key, data, record) })
		if err == nil && k == 0 {
			err = d.beside(i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// beside adds the objects and the mask of the image of ImageKey, which was decoded last, to row i
// of the batch.
func (d *imageDecoder) beside(i int) error {
	if d.spec.Objects != nil {
		if err := d.placeObjects(i); err != nil {
			return err
		}
		if d.spec.Objects.Masks {
			if err := d.submitObjectMasks(i); err != nil {
				return d.batch.located(i, objects.KeyMask, err)
			}
		}
	}
	if d.spec.MaskKey == "" {
		return nil
	}
	return d.value(i, d.spec.MaskKey, func(data []byte) error { return d.submitMask(i, i, data) })
}

// value submits the only value of a feature.
func (d *imageDecoder) value(i int, key string, submit func(data []byte) error) error {
	f, _ := d.features.Get(key)
	data, err := encoded(f)
	if err == nil {
		err = submit(data)
	}
	if err != nil {
		return d.batch.located(i, key, err)
	}
	return nil
}

// label writes the label of a record to row i of the batch, unless there are none.
func (d *imageDecoder) label(i int) error {
	s := d.spec
	if s.NoLabels {
		return nil
	}
	f, _ := d.features.Get(s.LabelKey)
	label, ok := f.Int64()
	if !ok || f.Len() != 1 {
		way := ""
		if f.Kind() == tfrecord.KindInt64 {
			way = ": set NoLabels, and read lists of labels with Columns of the ImageSpec"
		}
		return fmt.Errorf("feature %q: want one int64 for a label; it has %s of kind %v%s", s.LabelKey, plural.Of(f.Len(), "value"), f.Kind(), way)
	}
	if s.Classes > 0 && uint64(label) >= uint64(s.Classes) {
		return fmt.Errorf("feature %q: label %d: want 0 to %d, for %s", s.LabelKey, label, s.Classes-1, plural.Of(s.Classes, "class"))
	}
	d.batch.Labels[i] = label
	return nil
}

// encoded returns the only value of a feature.
func encoded(f tfrecord.Feature) ([]byte, error) {
	data, ok := f.Bytes()
	if !ok || f.Len() != 1 {
		return nil, fmt.Errorf("want an image; it has %s of kind %v", plural.Of(f.Len(), "value"), f.Kind())
	}
	return data, nil
}

// image decodes an image for a task.
func (d *imageDecoder) image(t *imageTask, data []byte, record pipeline.Record) error {
	s := d.spec
	t.Resize, t.channels = &s.Resize, s.Channels
	n := d.width * d.height * s.Channels
	from, to := t.row*n, (t.row+1)*n
	// Directly into the tensor where that has the form of a result: the length is just enough, and
	// the capacity protects the next row.
	switch {
	case s.DType == Uint8 && !s.NCHW:
		t.Pixels = augment.Image{Pix: d.batch.Bytes[from:to:to]}
	case s.DType == Float32 && s.Backend != nil: // the CPU does better with bytes
		t.Form, t.Normalize, t.Floats = augment.Floats, s.Normalize, d.batch.Pixels[from:to:to]
		if s.NCHW {
			t.Form = augment.FloatPlanes
		}
	}
	if string(d.format()) == rawpixels.Uint8 {
		return d.raw(t, data, record)
	}
	info, err := s.Codec.Stat(data)
	if err != nil {
		return err
	}
	if err := d.reserve(t, info.Memory()); err != nil {
		return err
	}
	w, h := info.Oriented()
	d.begin(t, record, w, h, info.Orientation)
	spec := s.decoding()
	spec.Spare = pipeline.SpareTokens(d.run.Tokens)
	plan := spec.For(info, t.Draw)
	switch {
	case d.decodes && info.Usual:
		err = t.ReadJPEG(s.Codec, data)
		if t.JPEGChannels, t.JPEGPlanes = 0, plan.Planes; !plan.Planes {
			t.JPEGChannels = s.Channels
		}
	case plan.Planes:
		_, err = s.Codec.DecodePlanes(&t.planes, data, plan.Options)
		t.Planes = &t.planes
	default:
		_, err = s.Codec.Decode(&t.decoded, data, plan.Options)
		t.Image = &t.decoded
	}
	return err
}

// begin sets the size of a task's image, w by h pixels when upright, and its draw of the Policy.
func (d *imageDecoder) begin(t *imageTask, record pipeline.Record, w, h, orientation int) {
	d.setSource(w, h, orientation)
	d.source.draw = d.draw(record, w, h)
	t.Width, t.Height, t.Draw = w, h, d.source.draw
}

// setSource sets the size and the orientation of an image, and the boxes of the objects if it is the
// first one of its record.
func (d *imageDecoder) setSource(w, h, orientation int) {
	d.source = imageSource{width: w, height: h, orientation: orientation}
	if len(d.boxes) > 0 {
		return
	}
	for _, stored := range d.objects.Boxes {
		d.boxes = append(d.boxes, d.source.box(stored))
	}
}

// copyTo copies the pixels of an image to dst, unless they are there.
func copyTo(dst []uint8, im *augment.Image) {
	size := im.Width * im.Channels
	if im.Stride == size && &im.Pix[0] == &dst[0] {
		return
	}
	for y := range im.Height {
		copy(dst[y*size:], im.Row(y))
	}
}

// decoding returns the settings that decide how images are decoded.
func (s *ImageSpec) decoding() decodeplan.Spec {
	return decodeplan.Spec{Codec: s.Codec, Resize: &s.Resize, Channels: s.Channels, ExactPixels: s.ExactPixels, Trusted: !s.Check}
}

// draw draws the augmentation for the image of a record, of w by h pixels.
func (d *imageDecoder) draw(record pipeline.Record, w, h int) augment.Draw {
	if d.spec.Policy == nil {
		return augment.Draw{}
	}
	return d.spec.Policy.DrawBoxes(d.run.Opts.Seed, drawKey(d.run, record), int(record.Epoch), w, h, d.boxes)
}

// drawKey identifies a record in random draws, wherever its set is.
func drawKey(r *pipeline.Run, record pipeline.Record) string {
	return fmt.Sprintf("%s#%d", filepath.Base(r.Data.Path(record)), record.Number)
}

// format returns the image/format of the record; "" if it has none.
func (d *imageDecoder) format() []byte {
	f, _ := d.features.Get(imagekey.Format)
	name, _ := f.Bytes()
	return name
}

// floats converts samples that were normalised before they were stored. They can no longer be
// resized.
func (d *imageDecoder) floats(row int, data []byte) error {
	size, err := rawpixels.Of(d.features, rawpixels.Float32, len(data))
	if err != nil {
		return err
	}
	s := d.spec
	h, w, c := size.Height, size.Width, size.Channels
	if s.DType == Uint8 || s.Policy != nil || h != d.height || w != d.width || c != s.Channels {
		return fmt.Errorf("its samples are float32, %dx%dx%d: they can only be read as float32, without a policy", h, w, c)
	}
	d.setSource(w, h, 1)
	half := s.DType.half()
	for at := range h * w * c {
		x := math.Float32frombits(binary.LittleEndian.Uint32(data[4*at:]))
		to := row*h*w*c + at
		if s.NCHW {
			to = row*h*w*c + at%c*h*w + at/c
		}
		if s.DType == Float32 {
			d.batch.Pixels[to] = x
		} else {
			d.batch.Halves[to] = half(x)
		}
	}
	return nil
}

// raw uses stored pixels as a task's image.
func (d *imageDecoder) raw(t *imageTask, data []byte, record pipeline.Record) error {
	size, err := rawpixels.Of(d.features, rawpixels.Uint8, len(data))
	if err != nil {
		return err
	}
	im := &t.stored
	*im = augment.Image{Pix: data, Width: size.Width, Height: size.Height, Channels: size.Channels, Stride: size.Width * size.Channels}
	t.Image = im
	if size.Channels != d.spec.Channels {
		t.Image = &t.decoded
		if size.Channels == 1 {
			err = augment.ToRGB(&t.decoded, im)
		} else {
			err = augment.ToGray(&t.decoded, im)
		}
	}
	d.begin(t, record, size.Width, size.Height, 1)
	return err
}

// writeSamples writes the values that a table has for the samples of an image.
func writeSamples[T float32 | uint16](dst []T, im *augment.Image, t *[3][256]T, nchw bool) {
	if nchw {
		writePlanes(dst, im, t)
	} else {
		writePixels(dst, im, t)
	}
}

// writePixels is writeSamples with channels last.
func writePixels[T float32 | uint16](dst []T, im *augment.Image, t *[3][256]T) {
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
			r, o := (*[12]uint8)(row), (*[12]T)(out)
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

// writePlanes is writeSamples with channels first.
func writePlanes[T float32 | uint16](dst []T, im *augment.Image, table *[3][256]T) {
	size := im.Width * im.Height
	for c := range im.Channels {
		t, plane := &table[c], dst[c*size:][:size]
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
