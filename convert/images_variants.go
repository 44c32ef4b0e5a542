package convert

import (
	"context"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/imagerecord"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/placed"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/optname"
)

// ImageVariants draws the variants of one image and moves its annotations with them, as [Images]
// does, to look at without a set.
type ImageVariants struct {
	// Annotations names the source of the annotations of the image: its path in a COCO file, or
	// otherwise the path of the file of annotations below its directory; "" without annotations.
	Annotations string
	// Faults are the annotations of the image that cannot be used, each with the reason.
	Faults []string
	source *imagerecord.Maker
	info   augment.Info
	mask   []byte
}

// ImageVariant is a variant of an image, or the original.
type ImageVariant struct {
	// Draw are the steps of the variant.
	Draw augment.Draw
	// Record is an Example of the objects that are left, and of the mask, with the features that
	// [Images] stores of them.
	Record []byte
	// Dropped is the number of objects that are lost to crops, or hardly visible.
	Dropped int64
}

// NewImageVariants reads the annotations of an image. key is the path of the image below the source
// that [Images] would convert, with "/". data is the file of the image, and mask the file of its
// mask of classes; nil without. Of o it uses Augment.Policy, Seed, Codec, Annotations except Masks,
// Labels.Classes, Workers and Note.
//
// Annotations are found by the key, as if the image were the only one of a source. It is an error
// if there are none, or if several fit.
func NewImageVariants(ctx context.Context, key string, data, mask []byte, o ImageOptions) (*ImageVariants, error) {
	if err := o.Annotations.Check(); err != nil {
		return nil, err
	}
	codec, err := augment.NewCodec(o.Codec)
	if err != nil {
		return nil, err
	}
	v := &ImageVariants{mask: mask}
	if v.info, err = codec.Stat(data); err != nil {
		return nil, err
	}
	pic := origin.Image{Path: key}
	v.source = imagerecord.New(&sample.Set{Options: &o}, codec, augment.CPU{})
	if o.Annotations.HasObjects() {
		a, err := annotations.Read(ctx, &o)
		if err != nil {
			return nil, err
		}
		image, err := a.Of(key, o.Annotations.Files)
		if err != nil {
			return nil, err
		}
		annotations.Attach(&pic, image, nil)
		if bad := pic.Bad(); bad != nil {
			return nil, fmt.Errorf("%s: %s: %s", optname.AnnotationSpecFiles, bad.Source, bad.Reason)
		}
		v.Annotations, v.source.Annotations, v.source.ObjectKeys = image.Name, a, placed.KeysOf(&o, a)
	}
	if mask != nil {
		pic.AddExtra().Mask = &origin.Image{Path: "of " + key}
	}
	v.source.Images = []origin.Image{pic}
	if image := pic.Annotated(); image != nil {
		v.addFaults(image.Faults)
		m := imagerecord.GetWork(sample.Of(0))
		defer imagerecord.PutWork(m)
		v.place(m)
		v.addFaults(m.Objects.Faults)
	}
	return v, nil
}

// addFaults adds annotations that cannot be used to Faults.
func (v *ImageVariants) addFaults(faults []annotation.Fault) {
	s := v.source
	for _, f := range faults {
		bad := annotations.BadSample(s.Images[0].Path, f)
		v.Faults = append(v.Faults, bad.Source+": "+bad.Reason)
	}
}

// Variant makes the variant of a number from 1, or the original, which is 0.
func (v *ImageVariants) Variant(number int) (*ImageVariant, error) {
	m := imagerecord.GetWork(sample.Sample{Copy: int32(number)})
	defer imagerecord.PutWork(m)
	s := v.source
	v.place(m)
	if mask := s.Images[0].Mask(); mask != nil {
		m.MaskFile = v.mask
		err := s.PlaceMask(m, s.Mapping(m, v.info), mask)
		m.MaskFile = nil // it is the caller's
		if err != nil {
			return nil, err
		}
	}
	b := &m.Record.Builder
	b.Reset()
	if s.Annotations != nil {
		s.Placer().Build(b, &m.Objects)
	}
	if v.mask != nil {
		b.Bytes(objects.KeySegmentation, m.Objects.Segmentation)
	}
	return &ImageVariant{Draw: m.Task.Draw, Record: slices.Clip(b.Append(nil)), Dropped: m.Objects.Dropped}, nil
}

// place draws a variant and places the objects of the image in it.
func (v *ImageVariants) place(m *imagerecord.Work) {
	s := v.source
	m.Task.Draw = s.Draw(m, v.info)
	if image := s.Images[0].Annotated(); image != nil {
		s.Placer().Place(&m.Objects, s.Mapping(m, v.info), image)
	}
}
