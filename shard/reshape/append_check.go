package reshape

import (
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// adaptLabels changes the label ids of the inputs to the set's, and returns the names to add to its
// list.
func (a *appending) adaptLabels(in *source.Inputs) (added []string, err error) {
	from := in.Described.Labels
	mine := manifest.LabelKeys(a.set.Features)
	switch {
	case len(from) == 0 && len(a.set.Labels) == 0:
		return nil, nil
	case len(from) == 0 && in.HasFeature(mine) && a.o.SameLabels:
		in.NameLabels(mine, a.set.Labels)
		return nil, nil
	case len(from) == 0 && in.HasFeature(mine):
		return nil, fmt.Errorf("the label ids of the input have no names to match with those of %s: name them first (%s), or state that they are the same (%s)",
			a.dir.Path(), optname.RepairAdopt.With(optname.AdoptOptionsLabels), optname.AppendOptionsSameLabels)
	case len(from) == 0:
		return nil, nil // no record has a label id
	case len(a.set.Labels) == 0 && len(mine) > 0:
		return nil, fmt.Errorf("the label ids of %s have no names to match with those of the input: name them first (%s)", a.dir.Path(), optname.RepairAdopt.With(optname.AdoptOptionsLabels))
	}
	target := slices.Clip(a.set.Labels)
	ids := make([]int64, len(from))
	same := true
	for i, name := range from {
		if name == "" && in.Described.LabelMap { // an id that is not used
			ids[i] = -1
			continue
		}
		if slices.Index(from, name) != i {
			return nil, fmt.Errorf("the input has two labels named %q: its ids cannot be matched with those of the set", name)
		}
		at := slices.Index(target, name)
		if at < 0 {
			at = len(target)
			target, added = append(target, name), append(added, name)
		}
		ids[i] = int64(at)
		same = same && at == i
	}
	if len(added) > 0 && !a.o.NewLabels {
		return nil, fmt.Errorf("the set has no label %q: %s adds it to its %s", added[0], optname.AppendOptionsNewLabels, plural.Of(len(a.set.Labels), "label"))
	}
	in.Described.Labels = target
	if slices.Equal(from, a.set.Labels) {
		return added, nil
	}
	in.RemapLabels(ids, same)
	return added, nil
}

// mergeRecords updates the record description of set to cover the records of more as well. It is an
// error if they are incompatible.
func mergeRecords(set, more *manifest.Manifest) error {
	if set.Records != more.Records {
		if set.Records == manifest.RecordExample {
			return fmt.Errorf("the records of the set are tf.train.Examples, not all of the input's are")
		}
		return nil // nothing is known about the set's records
	}
	if len(set.Features) == 0 {
		return nil
	}
	merged, err := source.MergeFeatures(features.ByKey(set.Features), features.ByKey(more.Features))
	if err != nil {
		return err
	}
	for _, f := range merged {
		i := slices.IndexFunc(set.Features, func(g manifest.Feature) bool { return g.Key == f.Key })
		switch {
		case i < 0:
			return fmt.Errorf("the records of the input have a feature %q, those of the set do not: drop it first (%s)", f.Key, optname.ReshapeDropFeatures)
		case f.Optional && !set.Features[i].Optional:
			return fmt.Errorf("all records of the set have the feature %q, not all of the input's do", f.Key)
		}
	}
	set.Features = merged
	return nil
}
