package reshape

import (
	"fmt"

	"github.com/tfrec/tfrec/shard"
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
	dst, err = appendInts(dst, r.data, values)
	if err != nil {
		err = &shard.DamagedError{Err: r.locate(err)}
	}
	return dst, err
}
