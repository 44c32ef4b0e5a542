package reshape

import (
	"testing"

	"github.com/tfrec/tfrec/manifest"
)

// TestLabelsBesideListsOfThem: the features of a set of both are lists of labels and texts.
func TestLabelsBesideListsOfThem(t *testing.T) {
	for class, kind := range map[manifest.FeatureClass]string{manifest.ClassLabel: "int64", manifest.ClassText: "bytes"} {
		one := manifest.Feature{Key: "k", Kind: kind, Class: class}
		list := one
		list.Shape = []int{-1}
		for _, pair := range [][2]manifest.Feature{{one, list}, {list, one}, {list, list}} {
			if m, err := mergeFeature(pair[0], pair[1]); err != nil || m.Class != class || m.Values() != -1 {
				t.Errorf("%v: %+v, %v", pair, m, err)
			}
		}
	}
}
