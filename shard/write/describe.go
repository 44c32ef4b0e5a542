package write

import (
	"slices"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// describeRecords fills in the features and the labels of the manifest.
func (f *finishing) describeRecords() error {
	scan := features.NewScan()
	for _, l := range f.lanes {
		scan.Merge(l.scan)
	}
	for _, sentence := range scan.Notes() {
		f.note(&f.report, "%s", sentence)
	}
	m := &f.m
	m.Features, m.Labels = []manifest.Feature{}, []string{}
	records, seen, odd := scan.Describe()
	if records != manifest.RecordExample {
		if len(f.o.Features) > 0 || f.o.Supervised != nil {
			return optionError("Features", "not all records are tf.train.Examples, so they have no features to state")
		}
		f.note(&f.report, "not all records are tf.train.Examples: the manifest describes no features")
		return nil
	}
	if len(odd) > 0 {
		f.note(&f.report, "features %s have values of several kinds, or none: the manifest does not describe them", plural.Quoted(odd, len(odd)))
	}
	m.Records = records
	for _, have := range seen {
		if f.o.isLabel(have) {
			have.Class = manifest.ClassLabel
		}
		m.Features = append(m.Features, have)
	}
	if err := f.refine(odd); err != nil {
		return err
	}
	if manifest.LabelKeys(m.Features) != nil {
		m.Labels = slices.Clone(f.o.Labels)
	} else if len(f.o.Labels) > 0 {
		f.note(&f.report, "no record has a label in the feature %q: the label names are not used", f.o.LabelKey)
	}
	if s := f.o.Supervised; s != nil {
		for _, key := range []string{s.Input, s.Target} {
			if !slices.ContainsFunc(m.Features, func(f manifest.Feature) bool { return f.Key == key }) {
				return optionError("Supervised", "no feature %q; there are %s", key, features.Keys(m.Features))
			}
		}
		m.Supervised = s
	}
	if f.compression() != tfrecord.CompressionNone {
		f.note(&f.report, "no metadata for TFDS: it cannot read %s shards", m.Compression)
	}
	return nil
}

// isLabel reports whether the values of an inferred feature are ids of Options.Labels.
func (o *Options) isLabel(f manifest.Feature) bool {
	return len(o.Labels) > 0 && f.Key == o.LabelKey && f.Kind == "int64" && f.Class == manifest.ClassScalar
}

// refine replaces inferred features by stated ones. A statement that the records contradict is an
// error; odd are the keys of features that cannot be inferred.
func (f *finishing) refine(odd []string) error {
	if err := features.CheckStated(f.o.Features, f.m.Features, odd); err != nil {
		return optionError("Features", "%w", err)
	}
	for _, stated := range f.o.Features {
		i := slices.IndexFunc(f.m.Features, func(have manifest.Feature) bool { return have.Key == stated.Key })
		if i < 0 {
			f.note(&f.report, "no record has the feature %q", stated.Key)
			continue
		}
		f.m.Features[i] = stated
	}
	return nil
}
