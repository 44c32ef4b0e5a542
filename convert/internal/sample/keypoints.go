package sample

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/listing"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/objects"
	"github.com/tfrec/tfrec/internal/orientation"
)

// placedKeypoint is a keypoint of an object of a record, in shares of the stored image. The zero value
// is one that is not labelled.
type placedKeypoint struct {
	x, y       float32
	visibility int8
}

// IdentifyAll returns what identifies the features that annotations give all records: a hash of their
// keypoints, and which flags a table has columns for; nil without both.
func (s *Set) IdentifyAll() (b []byte) {
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

// NoteMirrors notes that mirrored keypoints keep their names, if it is not known which others they
// become.
func NoteMirrors(o *options.ImageOptions, l *listing.Listing) {
	unknown := l.Annotations != nil && l.Annotations.Keypoints.Count > 0 && l.Annotations.Flip == nil ||
		l.Carried != nil && l.Carried.Keypoints && !l.Carried.Mirrors
	if unknown && o.Augment.Mirrors() {
		o.Notef("the keypoints of mirrored images keep their names, as nothing says which is left and which is right: names with left and right do, and flip_idx of YOLO")
	}
}

// keypointCount returns how many keypoints each object of a sample's record has that are moved.
func (s *placer) keypointCount(m *Work) int {
	switch {
	case m.beside.Record != nil:
		if k := &m.followed.keypoints; k.moves {
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
func (s *placer) keypointBytes() (n int64) {
	if s.Annotations == nil {
		return 0
	}
	k := &s.Annotations.Keypoints
	for _, name := range k.Names {
		n += int64(len(name)) + 3 // as a protobuf field
	}
	return n + 9*int64(k.Count)
}

// flipOf returns what the keypoints of object i are in a mirror image; nil if that is not known.
func (s *placer) flipOf(m *Work, i int) []int {
	if m.beside.Record != nil {
		k := &m.followed.keypoints
		return k.names.Of(k.parsed.Names(i))
	}
	return s.Annotations.Flip
}

// placeKeypoints appends the keypoints of object i, as many as each object of the record has. Those
// that are no longer in the image are not labelled. In a mirrored image left is right.
func (s *placer) placeKeypoints(m *Work, p *placement, image *annotation.Image, i int) {
	count, from := s.keypointCount(m), len(m.Objects.keypoints)
	if count == 0 {
		return
	}
	m.Objects.keypoints = slices.Grow(m.Objects.keypoints, count)[:from+count]
	placed := m.Objects.keypoints[from:]
	clear(placed)
	var flip []int
	if !p.keeps && p.draw.Mirrors() {
		flip = s.flipOf(m, i)
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
		placed[k] = placedKeypoint{float32(at.X / w), float32(at.Y / h), point.Visibility}
	}
}

// shownPoint returns a keypoint of an annotation in pixels of the image as shown.
func (p *placement) shownPoint(image *annotation.Image, k annotation.Keypoint) augment.Point {
	at := augment.Point{X: k.X, Y: k.Y}
	if image.Relative {
		at.X, at.Y = k.X*float64(p.width), k.Y*float64(p.height)
	}
	if p.turned(image.Width, image.Height) {
		at = at.Orient(p.orientation, p.storedWidth, p.storedHeight)
	}
	return at
}

// point moves a point of the image as shown to the stored image, and reports whether it is in it.
func (p *placement) point(at augment.Point) (_ augment.Point, shown bool) {
	at, shown = p.draw.Point(at, p.width, p.height)
	switch {
	case p.keeps:
		at = at.Orient(orientation.Inverse(p.orientation), p.width, p.height)
	case shown && p.resize != nil:
		at, shown = p.geometry.Point(at)
	}
	return at, shown
}

// countLabelled counts the keypoints that are labelled.
func countLabelled(keypoints []placedKeypoint) (n int64) {
	for _, k := range keypoints {
		if k.visibility != objects.Unlabelled {
			n++
		}
	}
	return n
}

// buildKeypoints adds the keypoints of the placed objects of annotations.
func (s *recordMaker) buildKeypoints(m *Work) {
	b, l, k := &m.Record.Builder, &m.Record.objects, &s.Annotations.Keypoints
	placed := m.Objects.keypoints
	l.ints = l.ints[:0]
	for of := range slices.Chunk(placed, k.Count) {
		l.ints = append(l.ints, countLabelled(of))
	}
	b.Int64(s.Options.Key(objects.KeyKeypointNum), l.ints...)
	if k.Names != nil {
		l.texts = l.texts[:0]
		for range m.Objects.placed {
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
