package pipeline

import (
	"testing"
)

func TestTally(t *testing.T) {
	var c SkipCount
	for _, epoch := range []int32{0, 0, 1, 0, 2, 1, 2, 0} {
		c.add(epoch, 1)
	}
	if c.Of(1) != 3 || c.Of(2) != 2 || c.Of(3) != 0 { // the last 0 counts as 1
		t.Errorf("%+v", c)
	}
	w := c.Words()
	if back, ok := TallyOf(w[:]); !ok || back != c {
		t.Errorf("%v became %+v", w, back)
	}
	for _, w := range [][]int64{nil, {1}, {0, -1, 0, 0}, {1 << 40, 0, 0, 0}, {0, 0, 0, 1 << 50}} {
		if _, ok := TallyOf(w); ok {
			t.Errorf("%v is taken", w)
		}
	}
}
