package shard

import "github.com/tfrec/tfrec/tfrecord"

// labelCounter counts the records of each label in a shard, as manifests have
// them. The zero one counts nothing.
type labelCounter struct {
	key  string // of the feature with the id
	byID map[int64]int64
	most int  // labels to count
	over bool // there were more: nothing is known of their numbers
}

// labelCounter returns one for shards of the set. Where several features are
// labels, the first is what manifests count.
func (m *Manifest) labelCounter() labelCounter {
	keys := labelKeys(m.Features)
	if len(keys) == 0 || len(m.Labels) == 0 {
		return labelCounter{}
	}
	return labelCounter{key: keys[0], byID: map[int64]int64{}, most: len(m.Labels) + maxLabelIDs}
}

// add counts a record. The id is the label's; -1 without one.
func (c *labelCounter) add(e *tfrecord.Example) (id int64) {
	if c.byID == nil {
		return -1
	}
	f, ok := e.Get(c.key)
	if !ok || f.Len() != 1 {
		return -1
	}
	id, ok = f.Int64()
	if !ok {
		return -1
	}
	if c.byID[id]++; len(c.byID) > c.most {
		clear(c.byID)
		c.over = true
	}
	return id
}
