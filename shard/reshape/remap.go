package reshape

import (
	"fmt"

	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/splice"
	"github.com/tfrec/tfrec/tfrecord"
)

// remap maps label ids to the ids of another list of names.
type remap struct {
	keys []string // of the label features
	ids  []int64  // new id by old id; -1 for one without a label
	same bool     // the ids do not change; they are only checked
}

// append appends the record to dst with its label ids remapped; all other bytes stay the same.
func (m *remap) append(dst []byte, r *record) ([]byte, error) {
	e, err := r.example()
	if err != nil {
		return dst, err
	}
	values := map[string][]int64{}
	for _, key := range m.keys {
		f, ok := e.Get(key)
		if !ok || f.Kind() != tfrecord.KindInt64 {
			continue
		}
		ids := f.AppendInt64s(nil)
		for i, id := range ids {
			if id < 0 || id >= int64(len(m.ids)) || m.ids[id] < 0 {
				return dst, &shard.DamagedError{Err: r.locate(fmt.Errorf("feature %q: no label has id %d: there are %d", key, id, len(m.ids)))}
			}
			ids[i] = m.ids[id]
		}
		values[key] = ids
	}
	if m.same {
		return append(dst, r.data...), nil
	}
	dst, err = splice.AppendInts(dst, r.data, values)
	if err != nil {
		err = &shard.DamagedError{Err: r.locate(err)}
	}
	return dst, err
}

// remapLabels changes the label ids once more, in all files: ids maps the ids of the merged inputs to
// new ones, and same is true if none of them changes: an id without a name must not get a new one.
func (in *inputs) remapLabels(ids []int64, same bool) {
	for _, f := range in.files {
		f.remap = in.remapTo(f, ids, same)
		in.remaps = in.remaps || f.remap != nil && !f.remap.same
	}
}

// remapTo returns the remap of a file for remapLabels.
func (in *inputs) remapTo(f *input, ids []int64, same bool) *remap {
	if f.remap == nil {
		keys := in.labelKeysOf(f)
		if keys == nil {
			return nil
		}
		return &remap{keys: keys, ids: ids, same: same}
	}
	r := &remap{keys: f.remap.keys, ids: make([]int64, len(f.remap.ids)), same: same && f.remap.same}
	for i, id := range f.remap.ids {
		if r.ids[i] = id; id >= 0 {
			r.ids[i] = ids[id]
		}
	}
	return r
}

// labelKeysOf returns the keys of a file's label features.
func (in *inputs) labelKeysOf(f *input) []string {
	if f.Set != nil {
		return manifest.LabelKeys(f.Set.Features)
	}
	if in.bareLabel == "" {
		return nil
	}
	return []string{in.bareLabel} // the label names are in a file next to it
}

// hasFeature reports whether records may have one of the features.
func (in *inputs) hasFeature(keys []string) bool {
	if !in.known {
		return len(keys) > 0
	}
	return hasAny(in.described.Features, keys)
}
