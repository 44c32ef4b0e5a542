package sample

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/annotation"
)

// Identity appends the identity of a sample, the same on every machine: its key, its labels, its
// row of a table and the hash of its image's content.
func (s *Set) Identity(dst []byte, sample Sample, hash string) []byte {
	p, key := &s.Images[sample.Image], s.Key(sample)
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	label := p.LabelName()
	dst = binary.AppendUvarint(dst, uint64(len(label)))
	dst = append(dst, label...)
	dst = binary.AppendVarint(dst, s.LabelID(p.ID))
	if s.Synsets != nil {
		dst = s.identifyLabel(dst, p.ID)
	}
	if row := p.Row(); row != nil {
		dst = binary.AppendUvarint(dst, uint64(len(row.Labels)))
		for _, id := range row.Labels {
			dst = s.identifyLabel(dst, id)
		}
		dst = binary.AppendUvarint(dst, uint64(len(row.Features)))
		dst = append(dst, row.Features...)
	}
	dst = append(dst, s.allIdentity...)
	if p.Mask() != nil && s.Colors != nil {
		dst = append(dst, s.Colors.Identity...)
	}
	if p.Annotated() != nil {
		dst = s.identifyAnnotations(dst, p.Annotated())
	}
	return append(dst, hash...)
}

// identifyLabel appends the identity of a label by its id: all that records have of it.
func (s *Set) identifyLabel(dst []byte, id int32) []byte {
	dst = binary.AppendVarint(dst, s.LabelID(id))
	if len(s.Labels) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Labels[id])))
	dst = append(dst, s.Labels[id]...)
	if s.Synsets != nil {
		dst = binary.AppendUvarint(dst, uint64(len(s.Synsets[id])))
		dst = append(dst, s.Synsets[id]...)
	}
	return dst
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

// IdentifyNames appends the hash of the names that ledger entries have for annotations, for an image of
// which decoding has shown that some cannot be used. Otherwise names do not matter.
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

// identifyAll returns what identifies the features that annotations give all records: a hash of their
// keypoints, and which flags a table has columns for; nil without both.
func (s *Set) identifyAll() (b []byte) {
	a := s.Annotations
	if a == nil {
		return nil
	}
	if a.Keypoints.Count > 0 {
		b = s.hashKeypoints()
	}
	if a.Flags != (annotation.Flags{}) {
		b = fmt.Appendf(b, "crowd %t, truncated %t;", a.Flags.Crowd, a.Flags.Truncated)
	}
	return b
}

// hashKeypoints hashes what all records have of keypoints.
func (s *Set) hashKeypoints() []byte {
	a := s.Annotations
	b := binary.AppendUvarint(nil, uint64(a.Keypoints.Count))
	for _, name := range a.Keypoints.Names {
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(b, name...)
	}
	if s.Options.Augment.Mirrors() {
		for _, i := range a.Flip {
			b = binary.AppendUvarint(b, uint64(i))
		}
	}
	sum := xxh3.Hash128(b).Bytes()
	return sum[:]
}
