package stats

import (
	"iter"
	"math"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// objectStat is Objects under construction.
type objectStat struct {
	images, empty, boxes, malformed, badBoxes int64
	crowd, difficult, truncated, masks        int64
	perImage, area, aspect                    spread
	sizes                                     ObjectSizes
	classes                                   map[classKey]*classCount
	omitted                                   int64

	sides [2][]float32 // of the boxes of a record
}

// classKey is an id, or the text of an object without one.
type classKey struct {
	isText bool
	id     int64
	text   string
}

// classCount counts the objects of a class.
type classCount struct {
	objects, images int64
	said            string // name from a text feature of the records
	last            int64  // number of the last image with the class, from 1
}

// isBoxes reports whether a feature has sides of boxes.
func isBoxes(key string) bool {
	return key == objects.KeyXMin || key == objects.KeyXMax || key == objects.KeyYMin || key == objects.KeyYMax
}

// add adds a record that has lists of boxes. It keeps no more than two numbers for each box in
// memory, whatever the lists are.
func (s *objectStat) add(features *tfrecord.Features, maxClasses int) {
	n, err := objects.Check(features)
	if err != nil {
		s.malformed++
		return
	}
	s.images++
	s.boxes += int64(n)
	s.perImage.addInt(int64(n))
	if n == 0 {
		s.empty++
		return
	}
	of := func(key string) tfrecord.Feature {
		f, _ := features.Get(key)
		return f
	}
	s.crowd += countSet(of(objects.KeyCrowd))
	s.difficult += countSet(of(objects.KeyDifficult))
	s.truncated += countSet(of(objects.KeyTruncated))
	s.masks += int64(of(objects.KeyMask).Len())
	s.addClasses(of(objects.KeyLabel), of(objects.KeyText), maxClasses)
	s.addBoxes(of)
}

// countSet counts the values that are not 0.
func countSet(f tfrecord.Feature) (n int64) {
	for v := range f.Int64List() {
		if v != 0 {
			n++
		}
	}
	return n
}

func (s *objectStat) addClasses(ids, texts tfrecord.Feature, limit int) {
	next, stop := iter.Pull(texts.BytesList())
	defer stop()
	if ids.Len() == 0 {
		for text, ok := next(); ok; text, ok = next() {
			if len(text) > recordscan.MaxLabelName {
				s.omitted++
				continue
			}
			s.count(classKey{isText: true, text: string(text)}, nil, limit)
		}
		return
	}
	for id := range ids.Int64List() {
		text, _ := next()
		s.count(classKey{id: id}, text, limit)
	}
}

// count counts an object of the current image.
func (s *objectStat) count(key classKey, text []byte, limit int) {
	c := s.class(key, limit)
	if c == nil {
		s.omitted++
		return
	}
	c.objects++
	if c.last != s.images {
		c.last = s.images
		c.images++
	}
	if c.said == "" && len(text) <= recordscan.MaxLabelName {
		c.said = string(text)
	}
}

// class returns the count of a class; nil if there are too many classes.
func (s *objectStat) class(key classKey, limit int) *classCount {
	c := s.classes[key]
	if c == nil && len(s.classes) < limit {
		if s.classes == nil {
			s.classes = map[classKey]*classCount{}
		}
		c = &classCount{}
		s.classes[key] = c
	}
	return c
}

func (s *objectStat) addBoxes(of func(key string) tfrecord.Feature) {
	for i, axis := range objects.Axes {
		s.sides[i] = of(axis.Min).AppendFloats(s.sides[i][:0])
		k := 0
		for end := range of(axis.Max).FloatList() {
			s.sides[i][k] = end - s.sides[i][k]
			k++
		}
	}
	width, _ := of(imagekey.Width).Int64()
	height, _ := of(imagekey.Height).Int64()
	for k, w := range s.sides[0] {
		s.addBox(w, s.sides[1][k], float64(width), float64(height))
	}
	if cap(s.sides[0]) > recordscan.ManyFeatures {
		s.sides = [2][]float32{}
	}
}

// aspectSteps is the number of distinct aspect ratios between 0 and 1: float32s of one ratio differ
// by their rounding.
const aspectSteps = 1e5

// addBox adds a box of w x h of an image of width x height pixels, which are 0 if unknown.
func (s *objectStat) addBox(w, h float32, width, height float64) {
	area := float64(w) * float64(h)
	if !(w > 0 && h > 0) || math.IsInf(area, 0) {
		s.badBoxes++
		return
	}
	s.area.addFloat(float32(area))
	if width <= 0 || height <= 0 {
		s.sizes.Unknown++
		return
	}
	s.aspect.addFloat(float32(math.Round(float64(w)*width/(float64(h)*height)*aspectSteps) / aspectSteps))
	switch pixels := area * width * height; {
	case pixels < 32*32:
		s.sizes.Small++
	case pixels < 96*96:
		s.sizes.Medium++
	default:
		s.sizes.Large++
	}
}

// merge adds the records after those that s has seen.
func (s *objectStat) merge(t *objectStat, limit int) {
	s.images += t.images
	s.empty += t.empty
	s.boxes += t.boxes
	s.malformed += t.malformed
	s.badBoxes += t.badBoxes
	s.crowd += t.crowd
	s.difficult += t.difficult
	s.truncated += t.truncated
	s.masks += t.masks
	s.perImage.merge(&t.perImage)
	s.area.merge(&t.area)
	s.aspect.merge(&t.aspect)
	s.sizes.Small += t.sizes.Small
	s.sizes.Medium += t.sizes.Medium
	s.sizes.Large += t.sizes.Large
	s.sizes.Unknown += t.sizes.Unknown
	s.omitted += t.omitted
	for _, key := range t.sortedClasses() {
		from := t.classes[key]
		to := s.class(key, limit)
		if to == nil {
			s.omitted += from.objects
			continue
		}
		to.objects += from.objects
		to.images += from.images
		if to.said == "" {
			to.said = from.said
		}
	}
}
