package reshape

import "sort"

// layout is the distribution of a split's records over its shards.
type layout struct {
	records, shards int64
	each            int64 // records in each shard but the last; 0 distributes them evenly
}

// start returns the number of the first record of a shard; start(l.shards) is l.records.
func (l layout) start(shard int64) int64 {
	if l.shards == 0 {
		return 0
	}
	if l.each > 0 {
		return min(shard*l.each, l.records)
	}
	q, r := l.records/l.shards, l.records%l.shards
	return shard*q + shard*r/l.shards
}

// after returns the first shard that begins after a record.
func (l layout) after(record int64) int64 {
	return int64(sort.Search(int(l.shards), func(i int) bool { return l.start(int64(i)) > record }))
}

// shardOf returns the shard that contains a position.
func (l layout) shardOf(place int64) int64 {
	if l.each > 0 {
		return place / l.each
	}
	return int64(sort.Search(int(l.shards), func(k int) bool { return l.start(int64(k)+1) > place }))
}
