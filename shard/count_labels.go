package shard

import (
	"strconv"

	"github.com/tfrec/tfrec/tfrecord"
)

// unlabelled is the id that TFDS's sets give to records without a label.
const unlabelled = -1

// maxLabelIDs is how many labels there can be; a feature of more values is none.
const maxLabelIDs = 100_000

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

// labelCounts names the labels that were counted by id; nil when none were.
func labelCounts(byID map[int64]int64, names []string) map[string]int64 {
	if len(byID) == 0 {
		return nil
	}
	counts := make(map[string]int64, len(byID))
	for id, n := range byID {
		name := strconv.FormatInt(id, 10)
		if id >= 0 && id < int64(len(names)) {
			name = Readable(names[id])
		}
		counts[name] += n
	}
	return counts
}
