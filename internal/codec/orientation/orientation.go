// Package orientation is EXIF orientations as steps, for masks that go with an image: decoding turns
// the image itself.
package orientation

import "github.com/tfrec/tfrec/augment"

// Steps returns the steps that make a stored image upright, for an EXIF orientation of 1 to 8; none
// for others. They are shared, and must not be changed.
func Steps(orientation int) []augment.Step {
	if orientation < 0 || orientation >= len(steps) {
		return nil
	}
	return steps[orientation]
}

// Inverse returns the EXIF orientation that undoes one of 1 to 8: a quarter turn becomes the one to
// the other side, the others undo themselves.
func Inverse(orientation int) int {
	switch orientation {
	case 6:
		return 8
	case 8:
		return 6
	}
	return orientation
}

var steps = [9][]augment.Step{
	2: {augment.HFlip{}},
	3: {augment.Rotate{Angle: 180}},
	4: {augment.VFlip{}},
	5: {augment.Rotate{Angle: 90, Expand: true}, augment.VFlip{}},
	6: {augment.Rotate{Angle: -90, Expand: true}},
	7: {augment.Rotate{Angle: 90, Expand: true}, augment.HFlip{}},
	8: {augment.Rotate{Angle: 90, Expand: true}},
}
