package labels

import (
	"strconv"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/tfrecord"
)

// Unlabelled is the id that TFDS's sets give to records without a label.
const Unlabelled = -1

// MaxIDs is the maximum number of labels. A feature with more values is not a label.
const MaxIDs = 100_000

// Counter counts the records of each label in a shard, as manifests have
// them. The zero one counts nothing.
type Counter struct {
	Key  string // of the feature with the id
	ByID map[int64]int64
	Most int  // labels to count
	Over bool // there were more: nothing is known of their numbers
}

// NewCounter returns one for the labels in the features of these keys, of which the set has
// names names. Where several features are labels, manifests count the first.
func NewCounter(keys []string, names int) Counter {
	if len(keys) == 0 || names == 0 {
		return Counter{}
	}
	return Counter{Key: keys[0], ByID: map[int64]int64{}, Most: names + MaxIDs}
}

// Add counts a record. The id is the label's; -1 without one.
func (c *Counter) Add(e *tfrecord.Example) (id int64) {
	if c.ByID == nil {
		return -1
	}
	f, ok := e.Get(c.Key)
	if !ok || f.Len() != 1 {
		return -1
	}
	id, ok = f.Int64()
	if !ok {
		return -1
	}
	if c.ByID[id]++; len(c.ByID) > c.Most {
		clear(c.ByID)
		c.Over = true
	}
	return id
}

// CountsByName names the labels that were counted by id; nil when none were.
func CountsByName(byID map[int64]int64, names []string) map[string]int64 {
	if len(byID) == 0 {
		return nil
	}
	counts := make(map[string]int64, len(byID))
	for id, n := range byID {
		name := strconv.FormatInt(id, 10)
		if id >= 0 && id < int64(len(names)) {
			name = jsontext.Readable(names[id])
		}
		counts[name] += n
	}
	return counts
}
