package source

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/manifest"
)

// MergeFeatures merges the feature descriptions of two groups of records, each sorted by key. A
// feature that only one has becomes optional; a feature with two kinds is an error.
func MergeFeatures(a, b []manifest.Feature) ([]manifest.Feature, error) {
	var merged []manifest.Feature
	for f, g := range features.Pairs(a, b, func(f *manifest.Feature) string { return f.Key }) {
		if f == nil || g == nil {
			one := *cmp.Or(f, g)
			one.Optional = true
			merged = append(merged, one)
			continue
		}
		both, err := mergeFeature(*f, *g)
		if err != nil {
			return nil, err
		}
		merged = append(merged, both)
	}
	return merged, nil
}

func mergeFeature(a, b manifest.Feature) (manifest.Feature, error) {
	if a.Kind != b.Kind {
		return a, mixedKinds(a.Key, a.Kind, b.Kind)
	}
	m := a
	m.Optional = a.Optional || b.Optional
	if a.Encoding != b.Encoding {
		m.Encoding = ""
	}
	if a.Class == manifest.ClassImage && b.Class == manifest.ClassImage && a.DType != b.DType {
		a.DType, b.DType, m.DType = "uint8", "uint8", "uint8" // as TFDS reads 16-bit images, too
	}
	if a.Class == manifest.ClassLabel && b.Class == manifest.ClassScalar || a.Class == manifest.ClassScalar && b.Class == manifest.ClassLabel {
		m.Class = manifest.ClassLabel
		return m, nil
	}
	if a.Class == b.Class && a.DType == b.DType && slices.Equal(a.Shape, b.Shape) {
		return m, nil
	}
	if a.Class == b.Class && a.DType == b.DType && len(a.Shape) == len(b.Shape) {
		m.Shape = slices.Clone(a.Shape)
		for i, n := range b.Shape {
			if m.Shape[i] != n {
				m.Shape[i] = -1
			}
		}
		return m, nil
	}
	if a.Class == b.Class && (a.Class == manifest.ClassLabel || a.Class == manifest.ClassText) {
		m.Shape = []int{-1} // one of them is a list
		return m, nil
	}
	// They have one value in common at most.
	m.Shape, m.DType, m.Encoding, m.Class = nil, "", "", manifest.ClassScalar
	if a.Class == manifest.ClassVector || b.Class == manifest.ClassVector {
		m.Class, m.Shape = manifest.ClassVector, []int{-1}
	}
	return m, nil
}

// RefineFeatures combines the features seen in all records with what manifests say about some of
// them.
func RefineFeatures(said, seen []manifest.Feature) ([]manifest.Feature, error) {
	known := map[string]manifest.Feature{}
	for _, f := range said {
		known[f.Key] = f
	}
	refined := slices.Clone(seen)
	for i, f := range seen {
		k, ok := known[f.Key]
		if !ok {
			continue
		}
		if k.Kind != f.Kind {
			return nil, mixedKinds(f.Key, k.Kind, f.Kind)
		}
		if k.Class != manifest.ClassScalar && k.Class != manifest.ClassVector {
			refined[i] = k
			refined[i].Optional = f.Optional
		}
	}
	return refined, nil
}

func mixedKinds(key, a, b string) error {
	return fmt.Errorf("feature %q is %s in some inputs and %s in others: drop it (%s) or rename it (%s) first", key, a, b, optname.ReshapeDropFeatures, optname.ReshapeRenameFeatures)
}
