package source

import (
	"fmt"

	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/splice"
	"github.com/tfrec/tfrec/tfrecord"
)

// Remap maps label ids to the ids of another list of names.
type Remap struct {
	Keys []string // of the label features
	IDs  []int64  // new id by old id; -1 for one without a label
	Same bool     // the ids do not change; they are only checked
}

// Append appends the record to dst with its label ids remapped; all other bytes stay the same.
func (m *Remap) Append(dst []byte, r *Record) ([]byte, error) {
	e, err := r.Example()
	if err != nil {
		return dst, err
	}
	values := map[string][]int64{}
	for _, key := range m.Keys {
		f, ok := e.Get(key)
		if !ok || f.Kind() != tfrecord.KindInt64 {
			continue
		}
		ids := f.AppendInt64s(nil)
		for i, id := range ids {
			if id < 0 || id >= int64(len(m.IDs)) || m.IDs[id] < 0 {
				return dst, &shard.DamagedError{Err: r.Locate(fmt.Errorf("feature %q: no label has id %d: there are %d", key, id, len(m.IDs)))}
			}
			ids[i] = m.IDs[id]
		}
		values[key] = ids
	}
	if m.Same {
		return append(dst, r.Data...), nil
	}
	dst, err = splice.AppendInts(dst, r.Data, values)
	if err != nil {
		err = &shard.DamagedError{Err: r.Locate(err)}
	}
	return dst, err
}

// RemapLabels changes the label ids once more, in all files: ids maps the ids of the merged inputs to
// new ones, and same is true if none of them changes: an id without a name must not get a new one.
func (in *Inputs) RemapLabels(ids []int64, same bool) {
	for _, f := range in.Files {
		f.Remap = in.remapTo(f, ids, same)
		in.Remapped = in.Remapped || f.Remap != nil && !f.Remap.Same
	}
}

// NameLabels names the labels of files that do not name theirs: the ids in the features of these keys
// are those of names, and one beyond them is an error of the record.
func (in *Inputs) NameLabels(keys, names []string) {
	ids := make([]int64, len(names))
	for i := range ids {
		ids[i] = int64(i)
	}
	for _, f := range in.Files {
		f.Remap = &Remap{Keys: keys, IDs: ids, Same: true}
	}
	in.Described.Labels, in.BareLabel = names, keys[0]
}

// remapTo returns the remap of a file for RemapLabels.
func (in *Inputs) remapTo(f *Input, ids []int64, same bool) *Remap {
	if f.Remap == nil {
		keys := in.labelKeysOf(f)
		if keys == nil {
			return nil
		}
		return &Remap{Keys: keys, IDs: ids, Same: same}
	}
	r := &Remap{Keys: f.Remap.Keys, IDs: make([]int64, len(f.Remap.IDs)), Same: same && f.Remap.Same}
	for i, id := range f.Remap.IDs {
		if r.IDs[i] = id; id >= 0 {
			r.IDs[i] = ids[id]
		}
	}
	return r
}

// labelKeysOf returns the keys of a file's label features.
func (in *Inputs) labelKeysOf(f *Input) []string {
	if f.Set != nil {
		return manifest.LabelKeys(f.Set.Features)
	}
	if in.BareLabel == "" {
		return nil
	}
	return []string{in.BareLabel} // the label names are in a file next to it
}

// HasFeature reports whether records may have one of the features.
func (in *Inputs) HasFeature(keys []string) bool {
	if !in.Known {
		return len(keys) > 0
	}
	return hasAny(in.Described.Features, keys)
}
