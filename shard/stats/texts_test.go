package stats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/axiomhq/hyperloglog"
	"github.com/zeebo/xxh3"
)

// TestTextsEstimateAllValues: the estimate includes every value, those from before it began as well
// as those without room, in one part or in several.
func TestTextsEstimateAllValues(t *testing.T) {
	all := hyperloglog.NewNoSparse()
	var whole, merged texts
	for _, n := range []int{tallySize, 1, 500, 3000, 2} {
		var part texts
		for i := range n {
			value := []byte(fmt.Sprint(n, " ", i))
			if n == 500 {
				value = append(value, strings.Repeat("long", maxTopText/4)...)
			}
			all.InsertHash(xxh3.Hash(value))
			whole.add(value)
			part.add(value)
		}
		if n == tallySize && (part.distinct != nil || part.texts(3).Distinct != tallySize) {
			t.Errorf("%d values are not counted exactly", n)
		}
		merged.merge(&part)
		for name, s := range map[string]*Texts{"whole": whole.texts(3), "merged": merged.texts(3)} {
			if want := int64(all.Estimate()); !s.Exact && s.Distinct != want {
				t.Errorf("%s, after %d: %d distinct, want %d", name, n, s.Distinct, want)
			}
		}
	}
	if s := merged.texts(3); s.Exact || s.Long != 500 || len(s.Top) != 0 {
		t.Errorf("%+v", s)
	}
}
