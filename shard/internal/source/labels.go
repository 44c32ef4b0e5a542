package source

import (
	"context"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/internal/annotation/labelmap"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// MergeManifests merges the manifests of the files into described, and finds out which files need
// other label ids.
func (in *Inputs) MergeManifests(ctx context.Context) error {
	m := &in.Described
	m.Labels = []string{}
	var sets []*shard.Set
	bare := ""
	for _, f := range in.Files {
		switch {
		case f.Set == nil:
			bare = f.Path
		case !slices.Contains(sets, f.Set):
			sets = append(sets, f.Set)
		}
	}
	if len(sets) == 0 {
		return in.bareLabels(ctx)
	}
	first := sets[0].Manifest
	m.Name, m.Decoder, m.Encoder, m.Records = first.Name, first.Decoder, first.Encoder, first.Records
	m.Supervised, m.Features, m.Labels = first.Supervised, features.ByKey(first.Features), first.Labels
	known := len(m.Features) > 0 || m.Records == ""
	m.LabelMap = slices.ContainsFunc(sets, func(s *shard.Set) bool { return s.LabelMap })
	for _, s := range sets[1:] {
		if s.Name != m.Name {
			m.Name = ""
		}
		if s.Decoder != m.Decoder {
			m.Decoder = ""
		}
		if s.Encoder != m.Encoder {
			m.Encoder = ""
		}
		if s.Records != m.Records {
			m.Records = ""
		}
		if m.Supervised == nil || s.Supervised == nil || *m.Supervised != *s.Supervised {
			m.Supervised = nil
		}
		known = known && len(s.Features) > 0
		var err error
		if m.Features, err = MergeFeatures(m.Features, features.ByKey(s.Features)); err != nil {
			return fmt.Errorf("%s and %s are incompatible: %w", sets[0].Dir, s.Dir, err)
		}
	}
	if bare != "" {
		m.Name, m.Decoder, m.Encoder = "", "", ""
	}
	in.Known = known && bare == "" && (m.Records == manifest.RecordExample || m.Records == "")
	if m.Records == "" && in.Known {
		m.Features, m.Supervised = nil, nil
	}
	return in.mergeLabels(sets, bare)
}

// mergeLabels merges the sets' lists of label names. If they differ, the result is their union, in
// the order that conversions use, and ids are remapped.
func (in *Inputs) mergeLabels(sets []*shard.Set, bare string) error {
	m := &in.Described
	named, unnamed, differ := namedLabels(sets)
	if named == nil {
		m.Labels = []string{}
		return nil
	}
	m.Labels = named.Labels
	if unnamed != nil {
		return fmt.Errorf("%s has label ids without names, and %s has names: name those ids first (%s), or leave one out", unnamed.Dir, named.Dir, optname.RepairAdopt.With(optname.AdoptOptionsLabels))
	}
	if bare != "" {
		// Its ids can only be checked against the names if the names are in files next to it.
		return fmt.Errorf("%s has no manifest that says what its label ids mean, and %s has one: write a manifest first (%s)", bare, named.Dir, optname.RepairAdopt)
	}
	if !differ {
		return nil
	}
	var err error
	if m.Labels, err = unionOfLabels(sets); err != nil {
		return err
	}
	remaps := remapsTo(m.Labels, sets)
	for _, r := range remaps {
		in.Remapped = in.Remapped || !r.Same
	}
	for _, f := range in.Files {
		f.Remap = remaps[f.Set]
	}
	return nil
}

// namedLabels returns a set whose labels have names, one with label ids that have none, and whether
// lists of names differ. Sets without labels count as neither.
func namedLabels(sets []*shard.Set) (named, unnamed *shard.Set, differ bool) {
	for _, s := range sets {
		if manifest.LabelKeys(s.Features) == nil {
			continue
		}
		if len(s.Labels) == 0 {
			unnamed = s
			continue
		}
		if named == nil {
			named = s
		}
		differ = differ || !slices.Equal(s.Labels, named.Labels)
	}
	var keys []string
	for _, s := range sets {
		keys = append(keys, manifest.LabelKeys(s.Features)...)
	}
	for _, s := range sets {
		// Label ids that a set does not know as labels have no names either.
		if manifest.LabelKeys(s.Features) == nil && hasAny(s.Features, keys) {
			unnamed = s
		}
	}
	return named, unnamed, differ
}

// unionOfLabels returns the names of all sets, in the order that conversions use.
func unionOfLabels(sets []*shard.Set) ([]string, error) {
	var union []string
	for _, s := range sets {
		if manifest.LabelKeys(s.Features) == nil {
			continue
		}
		names := s.Labels
		if s.LabelMap { // its ids may have gaps
			names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
		}
		if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) {
			return nil, fmt.Errorf("%s has two labels with the same name: its ids cannot be matched with those of other sets", s.Dir)
		}
		union = append(union, s.Labels...)
	}
	return labels.Sort(union), nil
}

// remapsTo returns the remap of each set with labels to a list of names, also of one whose ids stay the
// same: an id without a name must not get another's.
func remapsTo(names []string, sets []*shard.Set) map[*shard.Set]*Remap {
	ids := make(map[string]int, len(names))
	for id, name := range names {
		ids[name] = id
	}
	remaps := map[*shard.Set]*Remap{}
	for _, s := range sets {
		r := &Remap{Keys: manifest.LabelKeys(s.Features), Same: true}
		for id, name := range s.Labels {
			if s.LabelMap && name == "" {
				r.IDs = append(r.IDs, -1)
				continue
			}
			r.IDs = append(r.IDs, int64(ids[name]))
			r.Same = r.Same && ids[name] == id
		}
		if r.Keys != nil {
			remaps[s] = r
		}
	}
	return remaps
}

// hasAny reports whether a feature has one of the keys.
func hasAny(features []manifest.Feature, keys []string) bool {
	return slices.ContainsFunc(features, func(f manifest.Feature) bool { return slices.Contains(keys, f.Key) })
}

// bareLabels reads the label names from the files that TFDS writes next to records, if they are the
// same for all inputs, and sets BareLabel to the key.
func (in *Inputs) bareLabels(ctx context.Context) error {
	var dirs []string
	for _, f := range in.Files {
		if dir := storage.Dir(f.Path); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	key, err := in.firstLabelKey(ctx, dirs[0])
	if err != nil {
		return err
	}
	if key == "" { // a label map counts wherever it is, also if the first image has no objects
		for _, dir := range dirs {
			if _, file, err := namesBeside(ctx, dir, objects.KeyLabel); err != nil {
				return err
			} else if file == manifest.LabelMapFile {
				key = objects.KeyLabel
			}
		}
	}
	if key == "" {
		return nil
	}
	for i, dir := range dirs {
		names, file, err := namesBeside(ctx, dir, key)
		if err != nil {
			return err
		}
		mapped := file == manifest.LabelMapFile
		if names == nil || i > 0 && (mapped != in.Described.LabelMap || !slices.Equal(names, in.Described.Labels)) {
			return fmt.Errorf("%s names other labels in %s than in %s, so the meaning of its ids is ambiguous: make each directory a set first (%s)", file, dirs[0], dir, optname.RepairAdopt)
		}
		in.Described.LabelMap = mapped
		in.Described.Labels = names
	}
	in.BareLabel = key
	return nil
}

// namesBeside returns the names of a label feature's ids, and the file in the directory that has
// them: the label map for labels of objects, or the one that TFDS writes. They are nil if neither
// exists.
func namesBeside(ctx context.Context, dir, key string) (names []string, file string, err error) {
	if key == objects.KeyLabel {
		byID, err := labelmap.ReadNames(ctx, storage.Join(dir, manifest.LabelMapFile))
		if err != nil {
			return nil, "", err
		}
		if names := labelmap.Labels(byID, labels.MaxIDs); len(names) > 0 {
			return names, manifest.LabelMapFile, nil
		} else if len(byID) > 0 {
			return nil, "", fmt.Errorf("%s has ids that are not between 0 and %d, which a manifest cannot name", storage.Join(dir, manifest.LabelMapFile), labels.MaxIDs-1)
		}
	}
	return labels.ReadBeside(ctx, dir, key), labels.FileName(key), nil
}

// firstLabelKey returns the key of the first record's feature for which a file in the directory has
// label names; "" if there is none.
func (in *Inputs) firstLabelKey(ctx context.Context, dir string) (string, error) {
	r, err := shard.Open(ctx, in.Files[0].Path, tfrecord.ReaderOptions{MaxRecord: in.MaxRecord})
	if err != nil {
		return "", err
	}
	defer r.Close()
	record, err := r.Next()
	if err != nil {
		return "", nil // reported later, with a better message
	}
	var e tfrecord.Example
	if e.Parse(record) != nil {
		return "", nil
	}
	for i := range e.Len() {
		key, value := e.At(i)
		if value.Kind() != tfrecord.KindInt64 || value.Len() != 1 && string(key) != objects.KeyLabel {
			continue
		}
		names, file, err := namesBeside(ctx, dir, string(key))
		if err != nil {
			return "", err
		}
		if names != nil && (value.Len() == 1 || file == manifest.LabelMapFile) {
			return string(key), nil
		}
	}
	return "", nil
}
