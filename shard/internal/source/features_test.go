package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestMergeDepths: images of 16 bits next to others are images, of which readers want 8.
func TestMergeDepths(t *testing.T) {
	deep := manifest.Feature{Key: "k", Kind: "bytes", Class: manifest.ClassImage, DType: "uint16", Encoding: "png", Shape: []int{-1, -1, 3}}
	other := manifest.Feature{Key: "k", Kind: "bytes", Class: manifest.ClassImage, DType: "uint8", Encoding: "jpeg", Shape: []int{4, -1, 3}}
	want := manifest.Feature{Key: "k", Kind: "bytes", Class: manifest.ClassImage, DType: "uint8", Shape: []int{-1, -1, 3}}
	for _, pair := range [][2]manifest.Feature{{deep, other}, {other, deep}} {
		if got, err := mergeFeature(pair[0], pair[1]); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if got, err := mergeFeature(deep, deep); err != nil || !cmp.Equal(got, deep) {
		t.Errorf("%+v, %v", got, err)
	}
}
