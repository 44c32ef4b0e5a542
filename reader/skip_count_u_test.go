package reader

import (
	"errors"
	"io"
	"testing"
)

func TestTally(t *testing.T) {
	var c skipCount
	for _, epoch := range []int32{0, 0, 1, 0, 2, 1, 2, 0} {
		c.add(epoch, 1)
	}
	if c.of(1) != 3 || c.of(2) != 2 || c.of(3) != 0 { // the last 0 counts as 1
		t.Errorf("%+v", c)
	}
	w := c.words()
	if back, ok := tallyOf(w[:]); !ok || back != c {
		t.Errorf("%v became %+v", w, back)
	}
	for _, w := range [][]int64{nil, {1}, {0, -1, 0, 0}, {1 << 40, 0, 0, 0}, {0, 0, 0, 1 << 50}} {
		if _, ok := tallyOf(w); ok {
			t.Errorf("%v is taken", w)
		}
	}
	set := unusableSet(t, Options{SkipBad: SkipBad{Count: 9}})
	r, err := set.Records().Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	for _, skipped := range [][][2]int64{{{0, -1}}, {{1 << 40, 1}}, {{0, 1}, {1, 1}, {2, 1}}, {{0, 1 << 60}}} {
		s := r.State()
		s.Skipped = skipped
		if _, err := Map(set.Records(), label, MapOptions{}).Resume(t.Context(), s); !errors.Is(err, ErrState) {
			t.Errorf("skipped %v: %v", skipped, err)
		}
	}
}
