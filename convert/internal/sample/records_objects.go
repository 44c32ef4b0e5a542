package sample

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/carried"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/objects"
	"github.com/tfrec/tfrec/tfrecord"
)

// followed are the features of a record that depend on where its pixels are stored, or on the bytes
// of its image.
type followed struct {
	active bool // they are replaced by what follows
	parsed objects.Objects
	image  annotation.Image
	kept   []int // the objects that are left, by their index in the record
	// movesMasks is set if the objects have masks that must be moved; segmentation is such a mask of
	// classes.
	movesMasks   bool
	segmentation []byte
	keypoints    followedKeypoints
	floats       []float32
	ints         []int64
	bytes        [][]byte
}

// follow moves the objects of a record with its pixels, unless its image is kept. An error says why
// the record cannot be used.
func (s *placer) follow(m *Work, p *plan.Piece, info augment.Info) *Fault {
	if m.out.data != nil {
		return nil
	}
	f, place := &m.followed, s.Placement(m, info)
	f.active, f.kept = true, f.kept[:0]
	if err := f.read(m, place); err != nil {
		return &Fault{Stage: plan.StageAnnotation, Err: err}
	}
	if err := s.followMask(m, place); err != nil {
		return &Fault{Stage: plan.StageAnnotation, Err: err}
	}
	s.PlaceObjects(m, place, &f.image)
	if len(m.Objects.placed) < len(f.image.Objects) {
		if err := f.keypoints.check(&m.Record.row, f.parsed.Len()); err != nil {
			return &Fault{Stage: plan.StageAnnotation, Err: err}
		}
	}
	pic := &s.Images[m.Sample.Image]
	if s.ReportsFaults(m.Sample) {
		for _, fault := range slices.Concat(f.image.Faults, m.Objects.Faults) {
			fault.Source = s.Origin.Source(pic)
			p.Bad = append(p.Bad, *annotations.BadSample(pic.Path, fault))
		}
		p.Dropped += annotation.Unusable(m.Objects.Faults)
	}
	for i := range m.Objects.placed { // in the order of the record
		n := 0
		if i > 0 {
			n = f.kept[i-1] + 1
		}
		for &f.image.Objects[n] != m.Objects.placed[i].Object {
			n++
		}
		f.kept = append(f.kept, n)
	}
	return nil
}

// read reads the objects of a record, which are on the image in its file. It is an error if the
// lists contradict each other, or if there are features that cannot be moved although the pixels
// are.
func (f *followed) read(m *Work, p *placement) error {
	p.onStored = true
	e := &m.Record.row
	if err := e.Parse(m.beside.Record); err != nil {
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

// add adds a feature of the record under a name, as it is for the stored image, and reports whether
// it is one of those that follow it.
func (f *followed) add(b *tfrecord.Builder, name, key string, value tfrecord.Feature, m *Work) bool {
	side := func(i int) {
		f.floats = f.floats[:0]
		for k := range m.Objects.placed {
			f.floats = append(f.floats, m.Objects.placed[k].box[i])
		}
		b.Float(name, f.floats...)
	}
	switch {
	case !f.active || value.Len() == 0:
		return false
	case f.addMask(b, name, key, m), f.addKeypoints(b, name, key, m):
	case key == objects.KeySHA256:
		sum := sha256.Sum256(m.out.data)
		b.String(name, hex.EncodeToString(sum[:]))
	case key == objects.KeyXMin:
		side(0)
	case key == objects.KeyYMin:
		side(1)
	case key == objects.KeyXMax:
		side(2)
	case key == objects.KeyYMax:
		side(3)
	case key == objects.KeyArea:
		f.floats = f.floats[:0]
		for k := range m.Objects.placed {
			f.floats = append(f.floats, m.Objects.placed[k].area)
		}
		b.Float(name, f.floats...)
	case strings.HasPrefix(key, objects.KeyPrefix) && len(f.kept) < f.parsed.Len() && (len(f.kept) == 0 || !f.keypoints.namedOnce(key, value, f.parsed.Len())):
		f.addKept(b, name, value)
	default:
		return false
	}
	return true
}

// addKept adds the elements of the objects that are left.
func (f *followed) addKept(b *tfrecord.Builder, name string, value tfrecord.Feature) {
	each := value.Len() / f.parsed.Len() // several keypoints an object
	switch value.Kind() {
	case tfrecord.KindInt64:
		f.ints = pick(value.AppendInt64s(f.ints[:0]), f.kept, each)
		b.Int64(name, f.ints...)
	case tfrecord.KindFloat:
		f.floats = pick(value.AppendFloats(f.floats[:0]), f.kept, each)
		b.Float(name, f.floats...)
	default:
		f.bytes = pick(value.AppendBytes(f.bytes[:0]), f.kept, each)
		b.Bytes(name, f.bytes...)
	}
}

// pick moves the elements of some ascending indexes, so many for each, to the front.
func pick[T any](list []T, indexes []int, each int) []T {
	for to, from := range indexes {
		copy(list[to*each:(to+1)*each], list[from*each:(from+1)*each])
	}
	return list[:len(indexes)*each]
}
