// Package objects is the objects of a record as TensorFlow's Object Detection API stores them:
// lists of equal length, an element an object
// (research/object_detection/data_decoders/tf_example_decoder.py).
package objects

import (
	"fmt"

	"github.com/tfrec/tfrec/tfrecord"
)

// Keys of the features. Boxes are in shares of the stored image's width and height.
const (
	KeyXMin      = "image/object/bbox/xmin"
	KeyXMax      = "image/object/bbox/xmax"
	KeyYMin      = "image/object/bbox/ymin"
	KeyYMax      = "image/object/bbox/ymax"
	KeyLabel     = "image/object/class/label"
	KeyText      = "image/object/class/text"
	KeyDifficult = "image/object/difficult"
	KeyTruncated = "image/object/truncated"
	KeyView      = "image/object/view"
	KeyCrowd     = "image/object/is_crowd"
	KeyArea      = "image/object/area"
	KeyMask      = "image/object/mask" // PNGs of the stored size; nonzero pixels are the object
	KeySourceID  = "image/source_id"
	KeySHA256    = "image/key/sha256" // of the encoded image, in hexadecimal
	// Semantic masks: a class a pixel.
	KeySegmentation       = "image/segmentation/class/encoded"
	KeySegmentationFormat = "image/segmentation/class/format"
	// KeyPrefix begins the keys of the features of objects.
	KeyPrefix = "image/object/"
)

// Axis is the keys of two sides of boxes.
type Axis struct{ Min, Max string }

// Axes are the horizontal and the vertical axis.
var Axes = [2]Axis{{KeyXMin, KeyXMax}, {KeyYMin, KeyYMax}}

// Objects are the objects of a record. Lists that the record does not have are empty; the others
// have an element an object.
type Objects struct {
	// Boxes are xmin, ymin, xmax and ymax.
	Boxes                       [][4]float32
	Labels                      []int64
	Texts, Views, Masks         [][]byte // they alias the record
	Difficult, Truncated, Crowd []int64
	Area                        []float32
	sides                       [4][]float32
}

// Present reports whether a record may have objects: it has one of the features of boxes, even an
// empty one.
func Present(f *tfrecord.Features) bool {
	for _, key := range sideKeys {
		if _, ok := f.Get(key); ok {
			return true
		}
	}
	return false
}

var sideKeys = [4]string{KeyXMin, KeyYMin, KeyXMax, KeyYMax}

// Len returns the number of boxes.
func (o *Objects) Len() int { return len(o.Boxes) }

// lists are the features with an element an object, next to the sides of boxes.
var lists = []struct {
	key  string
	kind tfrecord.Kind
}{
	{KeyLabel, tfrecord.KindInt64}, {KeyDifficult, tfrecord.KindInt64}, {KeyTruncated, tfrecord.KindInt64}, {KeyCrowd, tfrecord.KindInt64},
	{KeyText, tfrecord.KindBytes}, {KeyView, tfrecord.KindBytes}, {KeyMask, tfrecord.KindBytes}, {KeyArea, tfrecord.KindFloat},
}

// Check returns the number of boxes. It is an error if a feature is of another kind, the sides of
// boxes differ in number, or another list is neither absent nor empty and has another length.
func Check(f *tfrecord.Features) (boxes int, err error) {
	for i, key := range sideKeys {
		v, err := get(f, key, tfrecord.KindFloat)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			boxes = v.Len()
		} else if v.Len() != boxes {
			return 0, fmt.Errorf("%s has %d values and %s %d: want one for each box", sideKeys[0], boxes, key, v.Len())
		}
	}
	for _, list := range lists {
		v, err := get(f, list.key, list.kind)
		if err != nil {
			return 0, err
		}
		if n := v.Len(); n != 0 && n != boxes {
			return 0, fmt.Errorf("%s has %d values for %d boxes", list.key, n, boxes)
		}
	}
	return boxes, nil
}

// Parse replaces o by the objects of a record, reusing its memory. It returns the same errors as
// Check. Values are not changed.
func (o *Objects) Parse(f *tfrecord.Features) error {
	n, err := Check(f)
	if err != nil {
		return err
	}
	of := func(key string) tfrecord.Feature {
		v, _ := f.Get(key)
		return v
	}
	for i, key := range sideKeys {
		o.sides[i] = of(key).AppendFloats(o.sides[i][:0])
	}
	o.Boxes = o.Boxes[:0]
	for i := range n {
		o.Boxes = append(o.Boxes, [4]float32{o.sides[0][i], o.sides[1][i], o.sides[2][i], o.sides[3][i]})
	}
	o.Labels, o.Difficult = of(KeyLabel).AppendInt64s(o.Labels[:0]), of(KeyDifficult).AppendInt64s(o.Difficult[:0])
	o.Truncated, o.Crowd = of(KeyTruncated).AppendInt64s(o.Truncated[:0]), of(KeyCrowd).AppendInt64s(o.Crowd[:0])
	o.Texts, o.Views = of(KeyText).AppendBytes(o.Texts[:0]), of(KeyView).AppendBytes(o.Views[:0])
	o.Masks, o.Area = of(KeyMask).AppendBytes(o.Masks[:0]), of(KeyArea).AppendFloats(o.Area[:0])
	return nil
}

// get returns a feature of a kind; the zero Feature, without values, if it is absent.
func get(f *tfrecord.Features, key string, kind tfrecord.Kind) (tfrecord.Feature, error) {
	v, ok := f.Get(key)
	if ok && v.Kind() != kind && v.Kind() != tfrecord.KindNone {
		return v, fmt.Errorf("%s is %v: want %v", key, v.Kind(), kind)
	}
	return v, nil
}
