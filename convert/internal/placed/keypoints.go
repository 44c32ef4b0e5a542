package placed

import (
	"slices"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/tfrecord"
)

// keypoint is a keypoint of an object of a record, in shares of the stored image. The zero value
// is one that is not labelled.
type keypoint struct {
	x, y       float32
	visibility int8
}

// keypointCount returns how many keypoints each object of a sample's record has that are moved.
func (s *Placer) keypointCount(o *Objects) int {
	switch {
	case o.record.active:
		if k := &o.record.keypoints; k.moves {
			return k.parsed.Count
		}
		return 0
	case s.Annotations != nil:
		return s.Annotations.Keypoints.Count
	}
	return 0
}

// MaxKeypointBytes bounds the keypoints of a record, which repeats their names for each object. It is a
// variable for tests.
var MaxKeypointBytes int64 = 64 << 20

// keypointBytes is the size of the keypoints of an object of annotations in a record.
func (s *Placer) keypointBytes() (n int64) {
	if s.Annotations == nil {
		return 0
	}
	k := &s.Annotations.Keypoints
	for _, name := range k.Names {
		n += int64(len(name)) + 3 // as a protobuf field
	}
	return n + 9*int64(k.Count)
}

// flipOf returns the counterparts of the keypoints of object i in a mirror image; nil if unknown.
func (s *Placer) flipOf(o *Objects, i int) []int {
	if o.record.active {
		k := &o.record.keypoints
		return k.names.Of(k.parsed.Names(i))
	}
	return s.Annotations.Flip
}

// placeKeypoints appends the keypoints of object i, as many as each object of the record has.
// Keypoints that were moved out of the image are not labelled. In a mirrored image left becomes
// right.
func (s *Placer) placeKeypoints(o *Objects, p *Mapping, image *annotation.Image, i int) {
	count, from := s.keypointCount(o), len(o.keypoints)
	if count == 0 {
		return
	}
	o.keypoints = slices.Grow(o.keypoints, count)[:from+count]
	placed := o.keypoints[from:]
	clear(placed)
	var flip []int
	if !p.keeps && p.Draw.Mirrors() {
		flip = s.flipOf(o, i)
	}
	for _, point := range image.Objects[i].Keypoints {
		at, shown := p.point(p.shownPoint(image, point))
		if !shown {
			continue
		}
		k := int(point.Index)
		if flip != nil {
			k = flip[k]
		}
		w, h := float64(p.resultWidth), float64(p.resultHeight)
		placed[k] = keypoint{float32(at.X / w), float32(at.Y / h), point.Visibility}
	}
}

// countLabelled counts the keypoints that are labelled.
func countLabelled(keypoints []keypoint) (n int64) {
	for _, k := range keypoints {
		if k.visibility != objects.Unlabelled {
			n++
		}
	}
	return n
}

// buildKeypoints adds the keypoints of the placed objects of annotations.
func (s *Placer) buildKeypoints(b *tfrecord.Builder, o *Objects) {
	l, k := &o.lists, &s.Annotations.Keypoints
	placed := o.keypoints
	l.ints = l.ints[:0]
	for of := range slices.Chunk(placed, k.Count) {
		l.ints = append(l.ints, countLabelled(of))
	}
	b.Int64(s.Options.Key(objects.KeyKeypointNum), l.ints...)
	if k.Names != nil {
		l.texts = l.texts[:0]
		for range o.placed {
			l.texts = append(l.texts, k.Names...)
		}
		b.String(s.Options.Key(objects.KeyKeypointText), l.texts...)
	}
	l.ints = l.ints[:0]
	for _, at := range placed {
		l.ints = append(l.ints, int64(at.visibility))
	}
	b.Int64(s.Options.Key(objects.KeyKeypointVisibility), l.ints...)
	l.floats = l.floats[:0]
	for _, at := range placed {
		l.floats = append(l.floats, at.x)
	}
	b.Float(s.Options.Key(objects.KeyKeypointX), l.floats...)
	l.floats = l.floats[:0]
	for _, at := range placed {
		l.floats = append(l.floats, at.y)
	}
	b.Float(s.Options.Key(objects.KeyKeypointY), l.floats...)
}
