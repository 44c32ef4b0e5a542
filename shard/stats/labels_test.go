package stats

import (
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// TestListsOfLabels: each id of a list that a manifest declares as labels counts, as for Inspect,
// packed or not; of other lists none does.
func TestListsOfLabels(t *testing.T) {
	packed := occurrence{kind: tfrecord.KindInt64, values: 3, packed: []byte{1, 0xac, 2, 1}, usual: true}
	o := Options{}.withDefaults()
	for key, want := range map[string]int{"mix/label": 2, "other/label": 0} {
		g := (&measure{o: &o, names: &labelNames{byKey: map[string][]string{"mix/label": {"a"}}}}).newFigures(new(int))
		g.addLabel(key, &packed, nil)
		if l := g.base.labels[key]; want > 0 && (l == nil || len(l.ids) != want || l.ids[1] != 2 || l.ids[300] != 1) || want == 0 && l != nil {
			t.Errorf("%s: %+v", key, l)
		}
	}
}
