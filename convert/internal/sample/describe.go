package sample

import (
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/placed"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/manifest"
)

// Describe describes labels and features in a manifest. Records name their decoders if the set has a
// choice of them.
func (s *Set) Describe(m *manifest.Manifest, decoders bool) {
	o := s.Options
	m.Labels, m.LabelMap = []string{}, s.LabelMap
	for _, name := range s.Labels {
		m.Labels = append(m.Labels, jsontext.Readable(name))
	}
	scalar := func(key, kind string) manifest.Feature {
		return manifest.Feature{Key: o.Key(key), Kind: kind, Class: manifest.ClassScalar}
	}
	text := func(key string) manifest.Feature {
		return manifest.Feature{Key: o.Key(key), Kind: "bytes", Class: manifest.ClassText}
	}
	m.Features = []manifest.Feature{
		scalar(imagekey.Channels, "int64"), text(imagekey.Colorspace), s.imageFeature(), text(imagekey.Filename),
		text(imagekey.Format), scalar(imagekey.Height, "int64"), scalar(imagekey.Width, "int64"),
	}
	if o.Augment.Policy != nil {
		m.Features = append(m.Features, scalar(imagekey.Copy, "int64"), text(imagekey.Ops))
	}
	if s.StoresMixture() {
		m.Features = append(m.Features,
			manifest.Feature{Key: o.Key(imagekey.MixLabel), Kind: "int64", Class: s.labelClass(true), Shape: []int{-1}},
			manifest.Feature{Key: o.Key(imagekey.MixWeight), Kind: "float", Class: manifest.ClassVector, Shape: []int{-1}})
	}
	if decoders {
		m.Features = append(m.Features, text(imagekey.Decoder))
	}
	if o.Encode.Format == options.Keep {
		m.Features = append(m.Features, scalar(imagekey.Orientation, "int64"))
	}
	if s.WritesLabels() {
		label := scalar(imagekey.Label, "int64")
		label.Class = s.labelClass(o.Labels.Several())
		features := []manifest.Feature{label, text(imagekey.Text)}
		if s.Synsets != nil {
			features = append(features, text(imagekey.Synset))
		}
		for _, f := range features {
			if o.Labels.Several() {
				f.Shape = []int{-1}
			}
			m.Features = append(m.Features, f)
		}
		m.Supervised = &manifest.Supervised{Input: o.Key(imagekey.Encoded), Target: o.Key(imagekey.Label)}
	}
	if slices.ContainsFunc(s.Features, func(f manifest.Feature) bool {
		return f.Class == manifest.ClassLabel && len(f.Shape) == 0 && !f.Optional
	}) {
		m.Supervised = &manifest.Supervised{Input: o.Key(imagekey.Encoded), Target: o.Key(imagekey.Label)}
	}
	m.Features = append(m.Features, s.Features...)
	m.Features = append(m.Features, placed.Describe(o, s.Annotations, s.ObjectKeys)...)
	slices.SortFunc(m.Features, func(a, b manifest.Feature) int { return strings.Compare(a.Key, b.Key) })
}

// labelClass returns the class of a feature with a label, or a list of them.
func (s *Set) labelClass(list bool) manifest.FeatureClass {
	switch {
	case s.Values == nil:
		return manifest.ClassLabel
	case list:
		return manifest.ClassVector
	}
	return manifest.ClassScalar
}

// imageFeature describes how the image itself is stored.
func (s *Set) imageFeature() manifest.Feature {
	o := s.Options
	f := manifest.Feature{Key: o.Key(imagekey.Encoded), Kind: "bytes", Class: manifest.ClassImage, DType: "uint8"}
	channels := 3 // readers return three channels for grayscale images on request
	if o.Encode.Channels != 0 {
		channels = o.Encode.Channels
	}
	f.Shape = []int{-1, -1, channels}
	if w, h, fixed := o.FixedSize(); fixed {
		f.Shape = []int{h, w, channels}
	}
	switch o.Encode.Format {
	case options.Raw:
		f.Class = manifest.ClassTensor
	case options.Float32:
		f.Class, f.DType = manifest.ClassTensor, "float32"
	case options.PNG:
		f.Encoding = string(options.PNG)
	default:
		f.Encoding = string(options.JPEG)
	}
	return f
}
