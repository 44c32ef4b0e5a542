package repair

import (
	"slices"

	"github.com/tfrec/tfrec/internal/annotation/labelmap"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/manifest"
)

// labelMap returns the names in the label map of records that have labels of objects; nil if there
// is none.
func (a *adoption) labelMap(features []manifest.Feature) ([]string, error) {
	if !slices.ContainsFunc(features, func(f manifest.Feature) bool { return f.Key == objects.KeyLabel && f.Kind == "int64" }) {
		return nil, nil
	}
	byID, err := labelmap.ReadNames(a.ctx, a.dir.Join(manifest.LabelMapFile))
	if err != nil || len(byID) == 0 {
		return nil, err
	}
	names := labelmap.Labels(byID, labels.MaxIDs)
	if names == nil {
		a.note("%s is not used: an id is not from 0 to %d", manifest.LabelMapFile, labels.MaxIDs-1)
		return nil, nil
	}
	a.note("labels: %s of %q, from %s", plural.Of(len(byID), "name"), objects.KeyLabel, manifest.LabelMapFile)
	return names, nil
}

// hasLabelMap reports whether the directory has the label map of a manifest, in whatever format.
func (a *adoption) hasLabelMap(m *manifest.Manifest) bool {
	names, err := labelmap.ReadNames(a.ctx, a.dir.Join(manifest.LabelMapFile))
	return err == nil && names != nil && labelmap.Equal(names, m.Labels)
}
