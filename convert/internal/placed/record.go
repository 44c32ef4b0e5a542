package placed

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/carried"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/tfrecord"
)

// record is the record that an image is from, with the features that depend on where its pixels are
// stored, or on the bytes of its image.
type record struct {
	active  bool // they are replaced by what follows
	example tfrecord.Example
	parsed  objects.Objects
	image   annotation.Image
	kept    []int // the objects that are left, by their index in the record
	// movesMasks is set if the objects have masks that must be moved; segmentation is such a mask of
	// classes.
	movesMasks   bool
	segmentation []byte
	keypoints    recordKeypoints
}

// Follow moves the objects of a record with its pixels. It returns an error if the record cannot be
// used, and the faults that reading the record has found; other faults are in o.Faults.
func (s *Placer) Follow(o *Objects, p *Mapping, data []byte) (read []annotation.Fault, err error) {
	f := &o.record
	f.active, f.kept = true, f.kept[:0]
	if err := f.read(data, p); err != nil {
		return nil, err
	}
	if err := s.followMask(o, p); err != nil {
		return nil, err
	}
	s.Place(o, p, &f.image)
	if len(o.placed) < len(f.image.Objects) {
		if err := f.keypoints.check(&f.example, f.parsed.Len()); err != nil {
			return nil, err
		}
	}
	for i := range o.placed { // in the order of the record
		n := 0
		if i > 0 {
			n = f.kept[i-1] + 1
		}
		for &f.image.Objects[n] != o.placed[i].Object {
			n++
		}
		f.kept = append(f.kept, n)
	}
	return f.image.Faults, nil
}

// RecordBoxes returns the boxes of the objects of a record, as ShownBoxes does; nil if Follow would
// return an error for the record.
func (o *Objects) RecordBoxes(p *Mapping, data []byte) []augment.Box {
	if o.record.read(data, p) != nil {
		return nil
	}
	return p.ShownBoxes(&o.record.image)
}

// read reads the objects of a record, which are on the image in its file. It is an error if the
// lists contradict each other, or if there are features that cannot be moved although the pixels
// are.
func (f *record) read(data []byte, p *Mapping) error {
	p.onStored = true
	e := &f.example
	if err := e.Parse(data); err != nil {
		return err // not expected: the listing has parsed it
	}
	if err := f.parsed.Parse(&e.Features); err != nil {
		return err
	}
	moves := p.moves()
	f.movesMasks, f.segmentation = moves && len(f.parsed.Masks) > 0, nil
	if err := f.keypoints.read(e, f.parsed.Len(), moves); err != nil {
		return err
	}
	for i := range e.Len() {
		key, value := e.At(i)
		k, n := string(key), value.Len()
		switch {
		case !carried.IsObjects(k) || n == 0:
		case moves && k == objects.KeySegmentation:
			if err := f.readMask(value); err != nil {
				return err
			}
		case k != objects.KeySegmentation && !isKeypoints(k) && n != f.parsed.Len():
			return fmt.Errorf("%s has %d values for %d boxes", jsontext.Readable(k), n, f.parsed.Len())
		}
	}
	pixels := func(share float32, n int) float64 {
		v := float64(share) * float64(n)
		if whole := math.Round(v); moves && math.Abs(v-whole) <= float64(n)*shareRounding {
			return whole // so that a crop along a side leaves nothing of the box
		}
		return v
	}
	w, h := p.storedWidth, p.storedHeight
	x, y := func(share float32) float64 { return pixels(share, w) }, func(share float32) float64 { return pixels(share, h) }
	f.image.Objects, f.image.Faults = f.image.Objects[:0], f.image.Faults[:0]
	for i, b := range f.parsed.Boxes {
		o := annotation.Object{Name: fmt.Sprintf("object %d", i+1), Area: math.NaN()}
		o.Box = annotation.Box{XMin: x(b[0]), YMin: y(b[1]), XMax: x(b[2]), YMax: y(b[3])}
		var reason string
		if o.Keypoints, reason = f.keypoints.of(i, x, y); reason != "" {
			f.image.Faults = append(f.image.Faults, annotation.Fault{Name: o.Name, Reason: reason, Part: annotation.PartKeypoints})
		}
		if i < len(f.parsed.Area) {
			o.Area = float64(f.parsed.Area[i])
		}
		f.image.Objects = append(f.image.Objects, o)
	}
	return nil
}

// shareRounding bounds the distance of a float32 share of a width or height from the exact one: two
// units in the last place.
const shareRounding = 1.2e-7

// AddFollowed adds a feature of the record to an Example under a name, as it is for the stored image,
// and reports whether it is one of those that follow it.
func (o *Objects) AddFollowed(b *tfrecord.Builder, name, key string, value tfrecord.Feature, image []byte) bool {
	f, l := &o.record, &o.lists
	floats := func(of func(*object) float32) {
		l.floats = l.floats[:0]
		for k := range o.placed {
			l.floats = append(l.floats, of(&o.placed[k]))
		}
		b.Float(name, l.floats...)
	}
	switch {
	case !f.active || value.Len() == 0:
		return false
	case o.addMask(b, name, key), o.addKeypoints(b, name, key):
	case key == objects.KeySHA256:
		sum := sha256.Sum256(image)
		b.String(name, hex.EncodeToString(sum[:]))
	case key == objects.KeyXMin:
		floats(func(of *object) float32 { return of.box[0] })
	case key == objects.KeyYMin:
		floats(func(of *object) float32 { return of.box[1] })
	case key == objects.KeyXMax:
		floats(func(of *object) float32 { return of.box[2] })
	case key == objects.KeyYMax:
		floats(func(of *object) float32 { return of.box[3] })
	case key == objects.KeyArea:
		floats(func(of *object) float32 { return of.area })
	case strings.HasPrefix(key, objects.KeyPrefix) && len(f.kept) < f.parsed.Len() && (len(f.kept) == 0 || !f.keypoints.namedOnce(key, value, f.parsed.Len())):
		o.addKept(b, name, value)
	default:
		return false
	}
	return true
}

// addKept adds the elements of the objects that are left.
func (o *Objects) addKept(b *tfrecord.Builder, name string, value tfrecord.Feature) {
	f, l := &o.record, &o.lists
	each := value.Len() / f.parsed.Len() // several keypoints an object
	switch value.Kind() {
	case tfrecord.KindInt64:
		l.ints = pick(value.AppendInt64s(l.ints[:0]), f.kept, each)
		b.Int64(name, l.ints...)
	case tfrecord.KindFloat:
		l.floats = pick(value.AppendFloats(l.floats[:0]), f.kept, each)
		b.Float(name, l.floats...)
	default:
		l.bytes = pick(value.AppendBytes(l.bytes[:0]), f.kept, each)
		b.Bytes(name, l.bytes...)
	}
}

// pick moves the elements of some ascending indexes, so many for each, to the front.
func pick[T any](list []T, indexes []int, each int) []T {
	for to, from := range indexes {
		copy(list[to*each:(to+1)*each], list[from*each:(from+1)*each])
	}
	return list[:len(indexes)*each]
}
