package repair

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation/classfile"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// labelSeen describes an int64 feature that may be the label.
type labelSeen struct {
	ids  map[int64]int64  // records per id
	said map[int64]string // names from the corresponding text feature
	// odd is the reason why it is not a label; empty as long as it may be.
	odd string
	// differ is true if an id has several texts.
	differ bool
}

// addLabels adds the features of a record that may be labels: those whose keys end in "label", or
// the requested one.
func (f *adopted) addLabels(features *tfrecord.Features, asked string) {
	for i := range features.Len() {
		key, value := features.At(i)
		if asked != "" && string(key) != asked || asked == "" && !strings.HasSuffix(string(key), "label") {
			continue
		}
		s := f.seen[string(key)]
		if s == nil {
			s = &labelSeen{ids: map[int64]int64{}, said: map[int64]string{}}
			f.seen[string(key)] = s
		}
		s.add(string(key), features, value)
	}
}

func (s *labelSeen) add(key string, features *tfrecord.Features, value tfrecord.Feature) {
	id, ok := value.Int64()
	switch {
	case s.odd != "":
		return
	case !ok || value.Len() != 1:
		s.odd = "it does not have exactly one int64 value in every record"
		return
	case id < labels.Unlabelled:
		s.odd = fmt.Sprintf("it is %d in some records", id)
		return
	}
	s.ids[id]++
	if id == labels.Unlabelled {
		return
	}
	if len(s.ids) > labels.MaxIDs {
		s.odd = fmt.Sprintf("it has more than %d values", labels.MaxIDs)
		return
	}
	text, ok := features.Get(strings.TrimSuffix(key, "label") + "text")
	if !ok || text.Len() != 1 {
		return
	}
	name, ok := text.Bytes()
	if !ok || len(name) > recordscan.MaxLabelName {
		return
	}
	if known, ok := s.said[id]; ok && known != string(name) {
		s.differ = true
	} else if !ok {
		s.said[id] = string(name)
	}
}

func (s *labelSeen) merge(t *labelSeen) {
	if s.odd == "" {
		s.odd = t.odd
	}
	s.differ = s.differ || t.differ
	for id, n := range t.ids {
		s.ids[id] += n
	}
	for id, name := range t.said {
		if known, ok := s.said[id]; ok && known != name {
			s.differ = true
		}
		s.said[id] = name
	}
	if s.odd == "" && len(s.ids) > labels.MaxIDs {
		s.odd = fmt.Sprintf("it has more than %d values", labels.MaxIDs)
	}
}

// most returns the largest id.
func (s *labelSeen) most() int64 {
	var most int64
	for id := range s.ids {
		most = max(most, id)
	}
	return most
}

// texts returns the names found in the records; nil if they are incomplete or ambiguous.
func (s *labelSeen) texts() []string {
	named := len(s.ids)
	if s.ids[labels.Unlabelled] > 0 {
		named--
	}
	if s.differ || named == 0 || len(s.said) != named || s.most() >= labels.MaxIDs {
		return nil
	}
	names := make([]string, s.most()+1)
	for id := range names {
		name, ok := s.said[int64(id)]
		if !ok {
			name = fmt.Sprintf("unseen_%d", id) // an id without records
		}
		names[id] = jsontext.Readable(name)
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(names))); len(distinct) != len(names) {
		return nil
	}
	return names
}

// label picks the label feature and finds its names.
func (a *adoption) label(features []manifest.Feature) (key string, names []string, err error) {
	seen := map[string]*labelSeen{}
	for _, f := range a.files {
		for key, s := range f.seen {
			if seen[key] == nil {
				seen[key] = &labelSeen{ids: map[int64]int64{}, said: map[int64]string{}}
			}
			seen[key].merge(s)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		i := slices.IndexFunc(features, func(f manifest.Feature) bool { return f.Key == key })
		s := seen[key]
		if i < 0 || features[i].Kind != tfrecord.KindInt64.String() || features[i].Class != manifest.ClassScalar {
			s.odd = "it does not have exactly one int64 value in every record"
		}
	}
	if key = a.o.Label; key != "" {
		if s := seen[key]; s == nil {
			return "", nil, fmt.Errorf("no record has the label feature %q", key)
		} else if s.odd != "" {
			return "", nil, fmt.Errorf("the feature %q cannot be the label: %s", key, s.odd)
		}
		names, err = a.labelNames(key, seen[key])
		return key, names, err
	}
	for _, candidate := range a.labelOrder(seen) {
		if seen[candidate].odd != "" {
			continue
		}
		found, err := a.labelNames(candidate, seen[candidate])
		if err != nil {
			return "", nil, err
		}
		if found != nil {
			return candidate, found, nil
		}
		if key == "" {
			key = candidate
		}
	}
	if a.o.Labels != nil && key == "" {
		return "", nil, fmt.Errorf("there are label names, but no label feature was found: name it")
	}
	return key, nil, nil
}

// labelOrder returns the keys of the possible label features, the likeliest first.
func (a *adoption) labelOrder(seen map[string]*labelSeen) []string {
	keys := slices.Sorted(maps.Keys(seen))
	rank := func(key string) int {
		_, class := a.tfds.Classes[key]
		switch {
		case a.before != nil && slices.Contains(manifest.LabelKeys(a.before.Features), key):
			return 0
		case class:
			return 1
		case key == "label":
			return 2
		case key == imagekey.Label:
			return 3
		}
		return 4
	}
	slices.SortStableFunc(keys, func(x, y string) int { return rank(x) - rank(y) })
	return keys
}

// labelNames returns the names of the ids of a feature; nil if unknown.
func (a *adoption) labelNames(key string, s *labelSeen) ([]string, error) {
	names, from := a.o.Labels, "those given"
	if names == nil && a.before != nil && slices.Contains(manifest.LabelKeys(a.before.Features), key) {
		names, from = a.before.Labels, manifest.File
	}
	for _, file := range []string{labels.FileName(key), "labels.txt"} {
		if names != nil {
			break
		}
		var err error
		if names, err = ReadLabels(a.ctx, a.dir.Join(file)); err != nil && !storage.Missing(err) {
			return nil, err
		}
		from = file
	}
	if names == nil {
		if names, from = s.texts(), "the records' texts"; names == nil {
			return nil, nil
		}
	}
	if most := s.most(); most >= int64(len(names)) {
		return nil, fmt.Errorf("feature %q is %d in some records, but there are %d label names (%s), for ids from 0: give the full list, beginning with a name for 0 if ids begin at 1",
			key, most, len(names), from)
	}
	if n, known := a.tfds.Classes[key]; known && n != len(names) && !a.ownTFDS() {
		return nil, fmt.Errorf("%s says that %q has %d classes, but there are %d label names (%s)", manifest.TFDSFeaturesFile, key, n, len(names), from)
	}
	a.note("labels: %s of %q, from %s", plural.Of(len(names), "name"), key, from)
	return names, nil
}

// ReadLabels reads label names from a file: one name per line, in the order of the ids from 0, or
// with these ids at the start of all lines, as in "3:roses"; or a label map.
func ReadLabels(ctx context.Context, path string) ([]string, error) {
	list, err := classfile.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	names := list.Numbered()
	ids := make(map[string]int, len(names))
	for id, name := range names {
		if first, twice := ids[name]; twice {
			return nil, fmt.Errorf("%s: the ids %d and %d are both %q", filepath.Base(path), first, id, name)
		}
		ids[name] = id
	}
	return names, nil
}
