package write

import (
	"fmt"
	"slices"
	"strings"

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
	if err := f.refine(); err != nil {
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
				return optionError("Supervised", "no feature %q; there are %s", key, f.keys())
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
// error.
func (f *finishing) refine() error {
	for _, stated := range f.o.Features {
		i := slices.IndexFunc(f.m.Features, func(have manifest.Feature) bool { return have.Key == stated.Key })
		if i < 0 {
			if stated.Optional {
				f.note(&f.report, "no record has the feature %q", stated.Key)
				continue
			}
			return optionError("Features", "no record has the feature %q; there are %s", stated.Key, f.keys())
		}
		have := f.m.Features[i]
		if have.Kind != stated.Kind {
			return optionError("Features", "feature %q is stated as %s, and the records have %s", stated.Key, stated.Kind, have.Kind)
		}
		if have.Optional && !stated.Optional {
			return optionError("Features", "some records do not have the feature %q, and it is not stated as optional", stated.Key)
		}
		if err := f.o.fits(stated, have); err != nil {
			return optionError("Features", "feature %q: %w", stated.Key, err)
		}
		f.m.Features[i] = stated
	}
	return nil
}

// fits returns an error if a record cannot have the stated number of values.
func (o *Options) fits(stated, have manifest.Feature) error {
	want, is := stated.Values(), have.Values()
	if want < 0 || want == is {
		return nil
	}
	if is < 0 {
		return fmt.Errorf("it is stated as %s in each record, and the number varies", plural.Of(int64(want), "value"))
	}
	return fmt.Errorf("it is stated as %s in each record, and there are %d", plural.Of(int64(want), "value"), is)
}

// keys lists the features of the records, for messages.
func (f *finishing) keys() string {
	var keys []string
	for _, have := range f.m.Features {
		keys = append(keys, have.Key)
	}
	return strings.Join(keys, ", ")
}
