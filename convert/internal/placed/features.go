package placed

import (
	"slices"

	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// KeysOf returns the keys of the lists of the objects of annotations, other than boxes, labels and
// texts, sorted.
func KeysOf(o *options.ImageOptions, a *annotations.Union) []string {
	var keys []string
	switch a.Format {
	case "coco":
		keys = []string{objects.KeyArea, objects.KeyCrowd}
	case "voc":
		keys = []string{objects.KeyDifficult, objects.KeyTruncated, objects.KeyView}
	case "kitti":
		keys = []string{objects.KeyTruncated}
	}
	if a.Flags.Crowd {
		keys = append(keys, objects.KeyCrowd)
	}
	if a.Flags.Truncated {
		keys = append(keys, objects.KeyTruncated)
	}
	if a.Keypoints.Count > 0 {
		keys = append(keys, objects.KeyKeypointNum, objects.KeyKeypointVisibility, objects.KeyKeypointX, objects.KeyKeypointY)
	}
	if a.Keypoints.Names != nil {
		keys = append(keys, objects.KeyKeypointText)
	}
	if o.Annotations.InstanceMasks {
		keys = append(keys, objects.KeyMask)
	}
	slices.Sort(keys)
	return keys
}

// Build adds the objects to an Example, in lists of equal length.
func (s *Placer) Build(b *tfrecord.Builder, o *Objects) {
	l, placed := &o.lists, o.placed
	floats := func(key string, of func(*object) float32) {
		l.floats = l.floats[:0]
		for i := range placed {
			l.floats = append(l.floats, of(&placed[i]))
		}
		b.Float(s.Options.Key(key), l.floats...)
	}
	ints := func(key string, of func(*object) int64) {
		l.ints = l.ints[:0]
		for i := range placed {
			l.ints = append(l.ints, of(&placed[i]))
		}
		b.Int64(s.Options.Key(key), l.ints...)
	}
	texts := func(key string, of func(*object) string) {
		l.texts = l.texts[:0]
		for i := range placed {
			l.texts = append(l.texts, of(&placed[i]))
		}
		b.String(s.Options.Key(key), l.texts...)
	}
	class := func(o *object) *annotation.Class { return &s.Annotations.Classes[o.Class] }
	has := func(key string) bool { return slices.Contains(s.Keys, key) }
	if has(objects.KeyArea) {
		floats(objects.KeyArea, func(o *object) float32 { return o.area })
	}
	floats(objects.KeyXMax, func(o *object) float32 { return o.box[2] })
	floats(objects.KeyXMin, func(o *object) float32 { return o.box[0] })
	floats(objects.KeyYMax, func(o *object) float32 { return o.box[3] })
	floats(objects.KeyYMin, func(o *object) float32 { return o.box[1] })
	ints(objects.KeyLabel, func(o *object) int64 { return class(o).ID })
	texts(objects.KeyText, func(o *object) string { return class(o).Name })
	if has(objects.KeyDifficult) {
		ints(objects.KeyDifficult, func(o *object) int64 { return int64(o.Difficult) })
	}
	if has(objects.KeyCrowd) {
		ints(objects.KeyCrowd, func(o *object) int64 { return int64(o.Crowd) })
	}
	if has(objects.KeyKeypointX) {
		s.buildKeypoints(b, o)
	}
	if has(objects.KeyMask) {
		l.bytes = o.appendMasks(l.bytes[:0])
		b.Bytes(s.Options.Key(objects.KeyMask), l.bytes...)
	}
	if has(objects.KeyTruncated) {
		ints(objects.KeyTruncated, func(o *object) int64 { return int64(o.Truncated) })
	}
	if has(objects.KeyView) {
		texts(objects.KeyView, func(o *object) string { return o.View })
	}
}

// Describe describes the features of annotations, whose lists have the given keys; a is nil without
// AnnotationSpec.Files.
func Describe(o *options.ImageOptions, a *annotations.Union, keys []string) []manifest.Feature {
	var features []manifest.Feature
	add := func(key, kind string, class manifest.FeatureClass, shape ...int) {
		features = append(features, manifest.Feature{Key: o.Key(key), Kind: kind, Class: class, Shape: shape})
	}
	if o.Annotations.HasMasks() {
		features = append(features, manifest.Feature{
			Key: o.Key(objects.KeySegmentation), Kind: "bytes", Class: manifest.ClassImage,
			DType: "uint8", Encoding: string(options.PNG), Shape: o.MaskShape(),
		})
		add(objects.KeySegmentationFormat, "bytes", manifest.ClassText)
	}
	if a == nil {
		return features
	}
	add(objects.KeySHA256, "bytes", manifest.ClassText)
	add(objects.KeySourceID, "bytes", manifest.ClassText)
	for _, key := range []string{objects.KeyXMin, objects.KeyXMax, objects.KeyYMin, objects.KeyYMax} {
		add(key, "float", manifest.ClassVector, -1)
	}
	add(objects.KeyLabel, "int64", manifest.ClassLabel, -1)
	add(objects.KeyText, "bytes", manifest.ClassText, -1)
	for _, key := range keys {
		switch key {
		case objects.KeyArea, objects.KeyKeypointX, objects.KeyKeypointY:
			add(key, "float", manifest.ClassVector, -1)
		case objects.KeyView, objects.KeyKeypointText:
			add(key, "bytes", manifest.ClassText, -1)
		case objects.KeyMask:
			add(key, "bytes", manifest.ClassVector, -1)
		default:
			add(key, "int64", manifest.ClassVector, -1)
		}
	}
	return features
}
