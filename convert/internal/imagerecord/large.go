package imagerecord

import (
	"github.com/tfrec/tfrec/convert/internal/plan"
)

// largeResult is where a sample's array is made, if that is in the frame of its record.
type largeResult struct {
	frame []byte  // nil: elsewhere
	array *[]byte // the field of the sample that has the array
}

// use makes *array, a buffer of the sample, the part of a frame for n bytes.
func (l *largeResult) use(array *[]byte, n int64) {
	l.frame, l.array = plan.GetLarge(n), array
	*array = l.frame[plan.LargeHead : plan.LargeHead : plan.LargeHead+n]
}

// take returns the frame if data is in its place there, and nil otherwise. The sample no longer has
// it.
func (l *largeResult) take(data []byte) []byte {
	frame := l.frame
	if frame == nil || len(data) == 0 || &data[0] != &frame[plan.LargeHead] {
		return nil
	}
	*l.array, *l = nil, largeResult{}
	return frame
}

// free gives back what take has not taken.
func (l *largeResult) free() {
	if l.frame != nil {
		*l.array = nil
		plan.PutLarge(l.frame)
		*l = largeResult{}
	}
}
