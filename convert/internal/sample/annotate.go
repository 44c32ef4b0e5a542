package sample

import (
	"encoding/binary"
	"iter"
	"math"
	"path"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
)

// annotate makes what records have of annotations, for an image that was just prepared. A fault is
// one of the image; annotations that cannot be used go into the piece.
func (s *placer) annotate(m *Work, p *plan.Piece, info augment.Info) *Fault {
	if m.beside.Record != nil {
		return s.follow(m, p, info)
	}
	pic := &s.Images[m.Sample.Image]
	if pic.Mask() == nil && s.Annotations == nil {
		return nil
	}
	place := s.Placement(m, info)
	place.draw = place.draw.Of(0, place.width, place.height)
	s.placeOwnObjects(m, p, place)
	if pic.Mask() != nil {
		if err := s.PlaceMask(m, place, pic.Mask()); err != nil {
			return &Fault{Stage: "decode", Err: err}
		}
	}
	s.placeMixedObjects(m, place)
	if s.Options.Annotations.DropEmpty && len(m.Objects.placed) == 0 {
		m.filtered, m.waits = true, false
	}
	return nil
}

// placeOwnObjects makes the objects of the sample's own image. The annotations of it that cannot be
// used go into the piece.
func (s *placer) placeOwnObjects(m *Work, p *plan.Piece, place *placement) {
	pic := &s.Images[m.Sample.Image]
	image := pic.Annotated()
	if image == nil {
		return
	}
	s.PlaceObjects(m, place, image)
	if !s.ReportsFaults(m.Sample) {
		return
	}
	if len(m.Objects.Faults) > 0 {
		p.Identity = IdentifyNames(p.Identity, image)
	}
	for _, f := range image.Faults {
		p.Bad = append(p.Bad, *Listed(annotations.BadSample(pic.Path, f)))
	}
	for _, f := range m.Objects.Faults {
		p.Bad = append(p.Bad, *annotations.BadSample(pic.Path, f))
	}
	p.Dropped += annotation.Unusable(image.Faults) + annotation.Unusable(m.Objects.Faults)
}

// ReportsFaults reports whether a sample is the one, of those made from its image, whose shard has
// the ledger entries of the image's annotations.
func (s *Set) ReportsFaults(sample Sample) bool {
	return sample.Copy == 0 || sample.Copy == 1 && !s.Options.Augment.KeepOriginal
}

// AnnotationFiles yields the paths of annotations and masks: the files, and directories whose
// entries matter.
func (s *Set) AnnotationFiles() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, f := range s.Options.Annotations.Files {
			if !yield(f.Path) {
				return
			}
			for _, beside := range s.Annotations.Sets[i].Beside {
				if !yield(beside) {
					return
				}
			}
			for name := range filesBelow(s.Annotations.Sets[i]) {
				if !yield(storage.Join(f.Path, name)) {
					return
				}
			}
		}
		if s.Masks == nil || s.Colors != nil && !yield(s.Colors.At.Path()) {
			return
		}
		var masks []origin.Image
		for i := range s.Images {
			if mask := s.Images[i].Mask(); mask != nil {
				masks = append(masks, *mask)
			}
		}
		for path := range s.Masks.Files(masks) {
			if !yield(path) {
				return
			}
		}
	}
}

// filesBelow yields the files of a directory of annotations, and the directories in it that they
// are in; nothing for COCO's and tables, which are one file.
func filesBelow(set *annotation.Set) iter.Seq[string] {
	return func(yield func(string) bool) {
		if annotation.IsFile(set.Format) {
			return
		}
		directories := map[string]bool{".": true}
		for i := range set.Images {
			name := set.Images[i].Source
			if dir := path.Dir(name); !directories[dir] {
				directories[dir] = true
				if !yield(dir) {
					return
				}
			}
			if !yield(name) {
				return
			}
		}
	}
}

// annotationMemory estimates the peak memory for the masks and keypoints of an image, in bytes:
// those of its annotations and a number of other masks.
func (s *placer) annotationMemory(pic *origin.Image, info augment.Info, masks int64) int64 {
	if pic.Mask() != nil {
		masks++
	}
	if pic.Annotated() != nil && s.Options.Annotations.InstanceMasks {
		masks += int64(len(pic.Annotated().Objects))
	}
	var n int64
	if pic.Annotated() != nil {
		const copies = 7 // placed, in lists, in the record, and in its frame
		n = copies * min(s.keypointBytes()*int64(len(pic.Annotated().Objects)), MaxKeypointBytes)
	}
	if masks == 0 {
		return n
	}
	w, h := info.Oriented()
	n += 6 * int64(w) * int64(h) // drawn, turned, and the images between steps
	if s.Colors != nil {
		n += 5 * int64(w) * int64(h) // drawn and turned in RGB
	}
	if s.Options.Resizes() {
		g := s.Options.Resize.Geometry(w, h)
		w, h = g.Width, g.Height
	}
	result := int64(w) * int64(h)
	return n + 2*result + 3*masks*(result/8+256) // encoded, in the record, and in its frame
}

// identifyAnnotations appends the hash of what records have of an image's annotations, and the
// numbers of those that reading has found to be faulty. The names of the others are only in the
// ledger, if at all: see identifyNames.
func (s *Set) identifyAnnotations(dst []byte, image *annotation.Image) []byte {
	begin := len(dst)
	dst = s.appendAnnotations(dst, image)
	sum := xxh3.Hash128(dst[begin:]).Bytes()
	return append(dst[:begin], sum[:]...)
}

// IdentifyNames appends the hash of what the ledger says of an image's annotations that cannot be
// used, as decoding the image has shown. Without such faults, other names change nothing.
func IdentifyNames(dst []byte, image *annotation.Image) []byte {
	h := xxh3.New()
	for _, text := range append([]string{image.Source}, objectNames(image)...) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(text))))
		_, _ = h.WriteString(text)
	}
	sum := h.Sum128().Bytes()
	return append(dst, sum[:]...)
}

func objectNames(image *annotation.Image) []string {
	names := make([]string, len(image.Objects))
	for i := range names {
		names[i] = image.Objects[i].Name
	}
	return names
}

// MisplacedAnnotations returns the keys of ledger entries about annotations that decoding an image has
// shown to be unusable.
func MisplacedAnnotations(bad []setdir.BadSample) map[string]bool {
	keys := map[string]bool{}
	for i := range bad {
		if bad[i].Stage == plan.StageAnnotation && !bad[i].Listed {
			keys[bad[i].Key] = true
		}
	}
	return keys
}

// appendAnnotations appends an encoding of an image's annotations.
func (s *Set) appendAnnotations(dst []byte, image *annotation.Image) []byte {
	text := func(v string) {
		dst = binary.AppendUvarint(dst, uint64(len(v)))
		dst = append(dst, v...)
	}
	number := func(v int) { dst = binary.AppendVarint(dst, int64(v)) }
	float := func(v float64) { dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v)) }
	text(image.ID)
	number(image.Width)
	number(image.Height)
	if image.Relative {
		number(1)
	}
	number(len(image.Objects))
	for i := range image.Objects {
		o := &image.Objects[i]
		class := &s.Annotations.Classes[o.Class]
		number(int(class.ID))
		text(class.Name)
		for _, v := range [...]float64{o.Box.XMin, o.Box.YMin, o.Box.XMax, o.Box.YMax, o.Area} {
			float(v)
		}
		dst = append(dst, byte(o.Crowd), byte(o.Difficult), byte(o.Truncated))
		text(o.View)
		if s.Annotations.Keypoints.Count > 0 {
			number(len(o.Keypoints))
		}
		for _, k := range o.Keypoints {
			float(k.X)
			float(k.Y)
			number(int(k.Index))
			dst = append(dst, byte(k.Visibility))
		}
		if o.Region == nil {
			continue
		}
		number(o.Region.Width)
		number(o.Region.Height)
		for _, polygon := range o.Region.Polygons {
			number(len(polygon))
			for _, v := range polygon {
				float(v)
			}
		}
		number(len(o.Region.Runs))
		for _, n := range o.Region.Runs {
			number(int(n))
		}
	}
	number(len(image.Faults))
	number(int(annotation.Unusable(image.Faults)))
	return dst
}
