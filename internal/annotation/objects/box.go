package objects

import "fmt"

// boxSlack is by how much stored boxes may be outside of 0 to 1, because of rounding: users of boxes
// clip them.
const boxSlack = 1e-3

// CheckBox refuses a stored box (xmin, ymin, xmax, ymax) that is not within the image.
func CheckBox(b [4]float32) error {
	for _, v := range b {
		if !(v >= -boxSlack && v <= 1+boxSlack) { // also NaN
			return fmt.Errorf("%v: want shares of the image, from 0 to 1", b)
		}
	}
	if b[0] > b[2] || b[1] > b[3] {
		return fmt.Errorf("%v: want xmin, ymin, xmax, ymax with each maximum at least its minimum", b)
	}
	return nil
}
