package assign

import (
	"sort"

	"github.com/tfrec/tfrec/internal/set/shares"
)

// Layout is the distribution of a split's records over its shards.
type Layout struct {
	Records, Shards int64
	Each            int64 // records in each shard but the last; 0 distributes them evenly
}

// Start returns the number of the first record of a shard; start(l.shards) is l.records.
func (l Layout) Start(shard int64) int64 {
	if l.Shards == 0 {
		return 0
	}
	if l.Each > 0 {
		return min(shard*l.Each, l.Records)
	}
	return shares.First(shard, l.Shards, l.Records)
}

// After returns the first shard that begins after a record.
func (l Layout) After(record int64) int64 {
	return int64(sort.Search(int(l.Shards), func(i int) bool { return l.Start(int64(i)) > record }))
}

// ShardOf returns the shard that contains a position.
func (l Layout) ShardOf(place int64) int64 {
	if l.Each > 0 {
		return place / l.Each
	}
	return int64(sort.Search(int(l.Shards), func(k int) bool { return l.Start(int64(k)+1) > place }))
}
