package placed

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/tfrecord"
)

// recordKeypoints are the keypoints of the objects of a record.
type recordKeypoints struct {
	parsed objects.Keypoints
	err    error // why they are not parsed, which matters only if they have to change
	moves  bool  // they are moved with the pixels
	points []annotation.Keypoint
	names  objects.Mirrors
}

// movingKeypoints are the features that are made again of the points that were moved.
var movingKeypoints = []string{objects.KeyKeypointX, objects.KeyKeypointY, objects.KeyKeypointVisibility, objects.KeyKeypointNum}

// isKeypoints reports whether a feature is of keypoints, of which objects have several values.
func isKeypoints(key string) bool { return strings.HasPrefix(key, objects.KeyKeypoints) }

// read parses the keypoints of a record with a number of boxes. It is an error if they have to move and
// cannot.
func (k *recordKeypoints) read(e *tfrecord.Example, boxes int, moves bool) error {
	k.err = k.parsed.Parse(&e.Features, boxes)
	k.moves = moves && k.err == nil && k.parsed.Count > 0
	k.points = k.points[:0]
	if !moves {
		return nil
	}
	for i := range e.Len() {
		key, value := e.At(i)
		if name := string(key); isKeypoints(name) && value.Len() > 0 && name != objects.KeyKeypointText && !slices.Contains(movingKeypoints, name) {
			return fmt.Errorf("the feature %s cannot follow the pixels of the image, which are moved or scaled: drop it first (%s), or keep the images as they are", jsontext.Readable(name), optname.ReshapeDropFeatures)
		}
	}
	if k.parsed.Count > annotation.MaxKeypoints {
		return fmt.Errorf("%s has %d values for each box: want %d at most", objects.KeyKeypointX, k.parsed.Count, annotation.MaxKeypoints)
	}
	return k.err
}

// of returns the keypoints of object i, on an image of the pixels that x and y return for shares of its
// sides. Those that are not in the image are not labelled, and the reason is why the first of them
// is not.
func (k *recordKeypoints) of(i int, x, y func(share float32) float64) (points []annotation.Keypoint, reason string) {
	if !k.moves {
		return nil, ""
	}
	from := len(k.points)
	for n := i * k.parsed.Count; n < (i+1)*k.parsed.Count; n++ {
		v := k.parsed.Visibility[n]
		if err := objects.CheckKeypoint(k.parsed.X[n], k.parsed.Y[n], v); err != nil {
			if reason == "" {
				reason = fmt.Sprintf("point %d, which counts as not labelled: %v", n-i*k.parsed.Count+1, err)
			}
		} else if v != objects.Unlabelled {
			k.points = append(k.points, annotation.Keypoint{X: x(k.parsed.X[n]), Y: y(k.parsed.Y[n]), Index: int16(n - i*k.parsed.Count), Visibility: int8(v)})
		}
	}
	return k.points[from:len(k.points):len(k.points)], reason
}

// check returns an error if objects of a record are left out, but the keypoints of the other
// objects cannot be determined.
func (k *recordKeypoints) check(e *tfrecord.Example, boxes int) error {
	if k.err != nil {
		return fmt.Errorf("an object is left out, and nothing says which keypoints are its: %w", k.err)
	}
	for i := range e.Len() {
		key, value := e.At(i)
		if name := string(key); isKeypoints(name) && !k.namedOnce(name, value, boxes) && value.Len()%boxes != 0 {
			return fmt.Errorf("an object is left out, and nothing says which of the %d values of %s are its: drop the feature first (%s)", value.Len(), jsontext.Readable(name), optname.ReshapeDropFeatures)
		}
	}
	return nil
}

// namedOnce reports whether a feature is the names of points, given once for several boxes.
func (k *recordKeypoints) namedOnce(key string, value tfrecord.Feature, boxes int) bool {
	return key == objects.KeyKeypointText && value.Len() == k.parsed.Count && boxes > 1
}

// addKeypoints adds a feature of keypoints that were moved under a name, and reports whether it is one.
func (o *Objects) addKeypoints(b *tfrecord.Builder, name, key string) bool {
	k, l := &o.record.keypoints, &o.lists
	if !k.moves || !slices.Contains(movingKeypoints, key) {
		return false
	}
	placed := o.keypoints
	switch key {
	case objects.KeyKeypointNum:
		l.ints = l.ints[:0]
		for of := range slices.Chunk(placed, k.parsed.Count) {
			l.ints = append(l.ints, countLabelled(of))
		}
		b.Int64(name, l.ints...)
	case objects.KeyKeypointVisibility:
		l.ints = l.ints[:0]
		for _, at := range placed {
			l.ints = append(l.ints, int64(at.visibility))
		}
		b.Int64(name, l.ints...)
	default:
		l.floats = l.floats[:0]
		for _, at := range placed {
			v := at.x
			switch {
			case at.visibility == objects.Unlabelled && !k.parsed.Stated: // nothing else says so
				v = float32(math.NaN())
			case key == objects.KeyKeypointY:
				v = at.y
			}
			l.floats = append(l.floats, v)
		}
		b.Float(name, l.floats...)
	}
	return true
}
