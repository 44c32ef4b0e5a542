package diff

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/tfrecord"
)

// ObjectDifference is an object of an image that differs between two Examples.
type ObjectDifference struct {
	// A and B describe the object: its number in the record from 0, its class and box, and any
	// other differences. "" means that the record does not have the object.
	A string `json:"a"`
	B string `json:"b"`
}

// objectKey is all that a record says of an object. Floats are their bits, so that NaNs are equal.
type objectKey struct {
	box        [4]uint32
	label      int64
	text, view string
	difficult  int64
	truncated  int64
	crowd      int64
	area       uint32
	mask       digest.Hash
	maskBytes  int
	keypoints  digest.Hash // of all that is said of them
	labelled   int         // of them
}

// objectsOf returns the objects of an Example; false if it has none, or lists that do not fit.
func objectsOf(e *tfrecord.Example) ([]objectKey, bool) {
	var o objects.Objects
	var points objects.Keypoints
	if !objects.Present(&e.Features) || o.Parse(&e.Features) != nil || points.Parse(&e.Features, o.Len()) != nil {
		return nil, false
	}
	list := make([]objectKey, o.Len())
	for i := range list {
		k := &list[i]
		for side, v := range o.Boxes[i] {
			k.box[side] = math.Float32bits(v)
		}
		k.label, k.difficult, k.truncated, k.crowd = intAt(o.Labels, i), intAt(o.Difficult, i), intAt(o.Truncated, i), intAt(o.Crowd, i)
		if len(o.Texts) > 0 {
			k.text = string(o.Texts[i])
		}
		if len(o.Views) > 0 {
			k.view = string(o.Views[i])
		}
		if len(o.Area) > 0 {
			k.area = math.Float32bits(o.Area[i])
		}
		if len(o.Masks) > 0 {
			k.mask, k.maskBytes = digest.Of(o.Masks[i]), len(o.Masks[i])
		}
		if points.Count > 0 {
			k.keypoints, k.labelled = digestKeypoints(&points, i)
		}
	}
	return list, true
}

// digestKeypoints returns a hash of the keypoints of object i, and how many are labelled.
func digestKeypoints(k *objects.Keypoints, i int) (h digest.Hash, labelled int) {
	var b []byte
	for n := i * k.Count; n < (i+1)*k.Count; n++ {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(k.X[n]))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(k.Y[n]))
		b = binary.AppendVarint(b, k.Visibility[n])
		if k.Visibility[n] != objects.Unlabelled {
			labelled++
		}
	}
	if i < len(k.Num) {
		b = binary.AppendVarint(b, k.Num[i])
	}
	for _, name := range k.Names(i) {
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	}
	return digest.Of(b), labelled
}

func intAt(list []int64, i int) int64 {
	if i < len(list) {
		return list[i]
	}
	return 0
}

// Limits on the objects compared and listed for a record.
const (
	maxObjects       = 10_000
	maxObjectsListed = 20
)

// compareObjects returns the objects that differ, wherever in the lists they are, and a reason if
// that is not all: more of them differ, or none does and their order differs.
func compareObjects(a, b *tfrecord.Example) (list []ObjectDifference, reason string) {
	x, ok1 := objectsOf(a)
	y, ok2 := objectsOf(b)
	if !ok1 || !ok2 || slices.Equal(x, y) || max(len(x), len(y)) > maxObjects {
		return nil, ""
	}
	list = pairObjects(x, y)
	switch n := len(list); {
	case n == 0:
		return nil, "the same objects in another order"
	case n > maxObjectsListed:
		return list[:maxObjectsListed], fmt.Sprintf("%s differ, of which %d are listed", plural.Of(n, "object"), maxObjectsListed)
	}
	return list, ""
}

// pairObjects returns the objects of x and y that differ: first the changed and removed objects of
// x, in order, then the objects that only y has.
func pairObjects(x, y []objectKey) (list []ObjectDifference) {
	onlyX, onlyY := unmatched(x, y)
	// A moved or redrawn object has the same class, and a renamed one the same box.
	partners := map[int]int{}
	for _, same := range []func(v, w *objectKey) bool{
		func(v, w *objectKey) bool { return v.text == w.text && v.label == w.label },
		func(v, w *objectKey) bool { return v.box == w.box },
	} {
		for _, i := range onlyX {
			if _, paired := partners[i]; paired {
				continue
			}
			if at := slices.IndexFunc(onlyY, func(j int) bool { return same(&x[i], &y[j]) }); at >= 0 {
				partners[i] = onlyY[at]
				onlyY = slices.Delete(onlyY, at, at+1)
			}
		}
	}
	for _, i := range onlyX {
		if j, ok := partners[i]; ok {
			list = append(list, ObjectDifference{A: x[i].describe(i, &y[j]), B: y[j].describe(j, &x[i])})
		} else {
			list = append(list, ObjectDifference{A: x[i].describe(i, nil)})
		}
	}
	for _, j := range onlyY {
		list = append(list, ObjectDifference{B: y[j].describe(j, nil)})
	}
	return list
}

// unmatched returns the indexes of the objects that are missing from the other list, or less
// frequent in it.
func unmatched(x, y []objectKey) (onlyX, onlyY []int) {
	have := map[objectKey]int{}
	for _, k := range y {
		have[k]++
	}
	for i, k := range x {
		if have[k]--; have[k] < 0 {
			onlyX = append(onlyX, i)
		}
	}
	have = map[objectKey]int{}
	for _, k := range x {
		have[k]++
	}
	for i, k := range y {
		if have[k]--; have[k] < 0 {
			onlyY = append(onlyY, i)
		}
	}
	return onlyX, onlyY
}

// describe describes an object: class and box, and what else differs from other, if that is not
// nil.
func (k *objectKey) describe(number int, other *objectKey) string {
	var sides [4]string
	for i, v := range k.box {
		sides[i] = strconv.FormatFloat(float64(math.Float32frombits(v)), 'g', -1, 32)
	}
	class := cmp.Or(k.text, strconv.FormatInt(k.label, 10))
	words := []string{fmt.Sprintf("object %d: %q at [%s]", number, class, strings.Join(sides[:], " "))}
	if other == nil {
		return words[0]
	}
	add := func(differs bool, format string, args ...any) {
		if differs {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(k.label != other.label, "label %d", k.label)
	add(k.difficult != other.difficult, "difficult %d", k.difficult)
	add(k.truncated != other.truncated, "truncated %d", k.truncated)
	add(k.view != other.view, "view %q", k.view)
	add(k.crowd != other.crowd, "is_crowd %d", k.crowd)
	add(k.area != other.area, "area %v", math.Float32frombits(k.area))
	add(k.mask != other.mask, "mask of %d bytes (XXH3 %016x)", k.maskBytes, k.mask.Lo)
	add(k.keypoints != other.keypoints, "%d labelled keypoints (XXH3 %016x)", k.labelled, k.keypoints.Lo)
	return strings.Join(words, ", ")
}
