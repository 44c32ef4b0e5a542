package objects

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/tfrecord"
)

// Keys of the features of keypoints. All but KeyKeypointNum have the same number of values for each
// object, one a point, in the order of the objects.
const (
	KeyKeypointX          = KeyKeypoints + "x" // in shares of the stored image's width
	KeyKeypointY          = KeyKeypoints + "y"
	KeyKeypointVisibility = KeyKeypoints + "visibility" // COCO's: 0 not labelled, 1 hidden, 2 visible
	KeyKeypointText       = KeyKeypoints + "text"       // the name of the point
	KeyKeypointNum        = KeyKeypoints + "num"        // of each object, the points that are labelled
	// KeyKeypoints begins the keys of all of them.
	KeyKeypoints = KeyPrefix + "keypoint/"
)

// Visibilities of keypoints, as COCO has them.
const (
	Unlabelled = 0 // its coordinates have no meaning; they are 0
	Hidden     = 1
	Visible    = 2
)

// Keypoints are the points of the objects of a record.
type Keypoints struct {
	// Count is the number of points of each object; 0 if the record has none.
	Count int
	// X and Y are shares of the stored image's width and height, Count for each object.
	X, Y []float32
	// Visibility is the visibility of each point. Without a list in the record, points that are not
	// finite are Unlabelled, and others Visible: Stated is then false.
	Visibility []int64
	Stated     bool
	// Texts are the names of the points of all objects, or of one object; or there are none.
	Texts [][]byte // they alias the record
	// Num are the numbers of labelled points of the objects; or there are none.
	Num []int64
}

// HasKeypoints reports whether a record has points of objects.
func HasKeypoints(f *tfrecord.Features) bool {
	v, ok := f.Get(KeyKeypointX)
	return ok && v.Len() > 0
}

// CheckKeypoints returns the number of points of each of a record's boxes, 0 if it has none. It is an
// error if a feature is of another kind, or if their lengths do not fit each other or the boxes.
func CheckKeypoints(f *tfrecord.Features, boxes int) (count int, err error) {
	x, err := get(f, KeyKeypointX, tfrecord.KindFloat)
	if err != nil {
		return 0, err
	}
	n := x.Len()
	switch {
	case n > 0 && boxes == 0:
		return 0, fmt.Errorf("%s has %d values and there is no box", KeyKeypointX, n)
	case n > 0 && n%boxes != 0:
		return 0, fmt.Errorf("%s has %d values for %d boxes: want the same number for each", KeyKeypointX, n, boxes)
	case n > 0:
		count = n / boxes
	}
	for _, list := range []struct {
		key  string
		kind tfrecord.Kind
		fits func(length int) bool
		want string
	}{
		{KeyKeypointY, tfrecord.KindFloat, func(length int) bool { return length == n }, "as many"},
		{KeyKeypointVisibility, tfrecord.KindInt64, func(length int) bool { return length == 0 || length == n }, "as many, or none"},
		{KeyKeypointText, tfrecord.KindBytes, func(length int) bool { return length == 0 || length == n || length == count }, "as many, those of one box, or none"},
	} {
		v, err := get(f, list.key, list.kind)
		if err != nil {
			return 0, err
		}
		if !list.fits(v.Len()) {
			return 0, fmt.Errorf("%s has %d values and %s %d: want %s", KeyKeypointX, n, list.key, v.Len(), list.want)
		}
	}
	num, err := get(f, KeyKeypointNum, tfrecord.KindInt64)
	if err == nil && num.Len() != 0 && num.Len() != boxes {
		err = fmt.Errorf("%s has %d values for %d boxes", KeyKeypointNum, num.Len(), boxes)
	}
	return count, err
}

// Parse replaces k by the points of a record with a number of boxes, reusing its memory. It returns
// the same errors as [CheckKeypoints]. Values are not changed.
func (k *Keypoints) Parse(f *tfrecord.Features, boxes int) (err error) {
	if k.Count, err = CheckKeypoints(f, boxes); err != nil {
		return err
	}
	of := func(key string) tfrecord.Feature {
		v, _ := f.Get(key)
		return v
	}
	k.X, k.Y = of(KeyKeypointX).AppendFloats(k.X[:0]), of(KeyKeypointY).AppendFloats(k.Y[:0])
	k.Visibility = of(KeyKeypointVisibility).AppendInt64s(k.Visibility[:0])
	k.Texts, k.Num = of(KeyKeypointText).AppendBytes(k.Texts[:0]), of(KeyKeypointNum).AppendInt64s(k.Num[:0])
	if k.Stated = len(k.Visibility) > 0 || len(k.X) == 0; k.Stated {
		return nil
	}
	for i, x := range k.X {
		v := int64(Visible)
		if notFinite(x) || notFinite(k.Y[i]) {
			v = Unlabelled
		}
		k.Visibility = append(k.Visibility, v)
	}
	return nil
}

func notFinite(v float32) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) }

// Names returns the names of the points of object i; nil without.
func (k *Keypoints) Names(i int) [][]byte {
	switch {
	case len(k.Texts) == 0:
		return nil
	case len(k.Texts) == k.Count:
		return k.Texts
	}
	return k.Texts[i*k.Count : (i+1)*k.Count]
}

// CheckKeypoint returns an error for a stored point that is labelled and not within the image, or
// whose visibility is none.
func CheckKeypoint(x, y float32, visibility int64) error {
	if visibility < Unlabelled || visibility > Visible {
		return fmt.Errorf("visibility %d: want 0, 1 or 2", visibility)
	}
	for _, v := range [...]float32{x, y} {
		if visibility != Unlabelled && !(v >= -boxSlack && v <= 1+boxSlack) { // also NaN
			return fmt.Errorf("%v, %v: want shares of the image, from 0 to 1", x, y)
		}
	}
	return nil
}

// Mirrors are what keypoints become in a mirror image, by their names. The zero value knows none.
type Mirrors struct {
	names [][]byte // of the last question
	flip  []int
}

// Of is [MirrorOf] for the names of a record. The result is valid until the next call.
func (m *Mirrors) Of(names [][]byte) []int {
	if slices.EqualFunc(names, m.names, bytes.Equal) {
		return m.flip
	}
	texts := make([]string, len(names))
	m.names = m.names[:0]
	for i, name := range names {
		texts[i] = string(name)
		m.names = append(m.names, []byte(texts[i]))
	}
	m.flip = MirrorOf(texts)
	return m.flip
}

// MirrorOf returns for each of some keypoints the index of the one that it is in a mirror image:
// left_eye is right_eye, and nose itself. It goes by their names, in which left and right, or a single
// l and r, are exchanged. It is nil if that is not known: if a name has no counterpart, or if none
// has left or right.
func MirrorOf(names []string) []int {
	at := make(map[string]int, len(names))
	for i, name := range names {
		if _, twice := at[name]; twice {
			return nil
		}
		at[name] = i
	}
	flip, pairs := make([]int, len(names)), 0
	for i, name := range names {
		flip[i] = i
		for _, swap := range []func(string) string{swapSides, swapLetters} {
			other := swap(name)
			if other == name {
				continue
			}
			k, known := at[other]
			if !known {
				return nil
			}
			flip[i] = k
			pairs++
			break
		}
	}
	for i, k := range flip {
		if flip[k] != i {
			return nil
		}
	}
	if pairs == 0 && len(names) != 1 {
		return nil
	}
	return flip
}

var sides = strings.NewReplacer("left", "right", "right", "left", "Left", "Right", "Right", "Left", "LEFT", "RIGHT", "RIGHT", "LEFT")

// swapSides exchanges left and right in a name.
func swapSides(name string) string { return sides.Replace(name) }

// swapLetters exchanges l and r in a name where they are words.
func swapLetters(name string) string {
	b := []byte(name)
	word := func(i int) bool { return i < 0 || i >= len(b) || strings.IndexByte("_-. ", b[i]) >= 0 }
	for i, c := range b {
		if !word(i-1) || !word(i+1) {
			continue
		}
		switch c {
		case 'l', 'L':
			b[i] = c + 'r' - 'l'
		case 'r', 'R':
			b[i] = c - ('r' - 'l')
		}
	}
	return string(b)
}
