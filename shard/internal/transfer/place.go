package transfer

import (
	"slices"
	"sort"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// placing divides the positions of the records into buckets, and the shards into lots that are
// written in parallel. For an order by record number, a lot is either one shard with several
// buckets, or several shards with one bucket. For an order by key, it is one shard, whose first and
// last bucket may also be in other lots.
type placing struct {
	lots   []shardLot
	starts []int64 // position of the first record of each bucket, and the end of the last
	shared []int   // number of lots that each bucket is in; nil: one

	// For an order by record number.
	shift uint
	guess []int32 // by (place-starts[0])>>shift: the bucket of the first position in that range
}

// shardLot is a range of shards, and of the buckets that hold their records.
type shardLot struct {
	shards          []shardAt
	bucket, buckets int
}

// shardAt is a shard and the range of its records' positions.
type shardAt struct {
	target int
	shard  int64
	start  int64
	behind int64 // position after the last record
}

// newPlacing makes about a.number buckets.
func (a *arrangement) newPlacing() *placing {
	return placeShards(a.shardsInOrder(), max(a.base[len(a.Targets)]/int64(a.number), 1))
}

func (a *arrangement) shardsInOrder() (shards []shardAt) {
	for t := range a.Targets {
		for k := range a.Targets[t].Shards {
			shards = append(shards, a.shardAt(t, k))
		}
	}
	return shards
}

func (a *arrangement) shardAt(target int, shard int64) shardAt {
	layout, base := a.Targets[target].Layout, a.base[target]
	return shardAt{target, shard, base + layout.Start(shard), base + layout.Start(shard+1)}
}

// placeShards makes buckets of about each records for shards with consecutive positions.
func placeShards(shards []shardAt, each int64) *placing {
	p := &placing{}
	var small shardLot
	var held int64
	flush := func() {
		if len(small.shards) > 0 {
			small.bucket, small.buckets = len(p.starts), 1
			p.starts = append(p.starts, small.shards[0].start)
			p.lots = append(p.lots, small)
		}
		small, held = shardLot{}, 0
	}
	for _, s := range shards {
		n := s.behind - s.start
		if n <= each {
			if held+n > each {
				flush()
			}
			small.shards = append(small.shards, s)
			held += n
			continue
		}
		flush()
		l := shardLot{shards: []shardAt{s}, bucket: len(p.starts), buckets: int((n + each - 1) / each)}
		for i := range int64(l.buckets) {
			p.starts = append(p.starts, s.start+i*(n/int64(l.buckets))+min(i, n%int64(l.buckets)))
		}
		p.lots = append(p.lots, l)
	}
	flush()
	behind := shards[len(shards)-1].behind
	p.starts = append(p.starts, behind)
	for (behind-p.starts[0])>>p.shift > int64(4*len(p.starts)) {
		p.shift++
	}
	for at, b := p.starts[0], 0; at < behind; at += 1 << p.shift {
		for p.starts[b+1] <= at {
			b++
		}
		p.guess = append(p.guess, int32(b))
	}
	return p
}

// placeSorted finds the lots once the buckets are filled.
func (a *arrangement) placeSorted() *placing {
	p := &placing{starts: make([]int64, a.number+1), shared: make([]int, a.number)}
	for i := range a.number {
		p.starts[i+1] = p.starts[i] + int64(a.spill.Rows(i))
	}
	for _, s := range a.shardsInOrder() {
		first := sort.Search(a.number, func(i int) bool { return p.starts[i+1] > s.start })
		first = min(first, a.number-1) // a shard without records may be after all of them
		behind := sort.Search(a.number, func(i int) bool { return p.starts[i] >= s.behind })
		l := shardLot{shards: []shardAt{s}, bucket: first, buckets: max(behind-first, 1)}
		p.lots = append(p.lots, l)
		for i := range l.buckets {
			p.shared[l.bucket+i]++
		}
	}
	return p
}

func (p *placing) buckets() int { return len(p.starts) - 1 }

// bucket returns the bucket that contains a position.
func (p *placing) bucket(place int64) int {
	b := int(p.guess[(place-p.starts[0])>>p.shift])
	for p.starts[b+1] <= place {
		b++
	}
	return b
}

// LeastFetched is the average record size from which reading records individually is at least as
// fast as reading everything twice and writing it once.
const LeastFetched = 64 << 10

// leastRequested is LeastFetched for object stores: each record takes one request to find it and
// one to read it, and each request takes as long as streaming megabytes.
const leastRequested = 8 << 20

// mostFetched is the maximum number of input files open for reading individual records.
const mostFetched = 128

// fetchable reports whether the records, size bytes in total, are large enough to be read from the
// inputs in the new order, and few enough to keep so many numbers of each.
func (a *arrangement) fetchable(size, numbers int64) bool {
	n := a.base[len(a.Targets)]
	least := int64(LeastFetched)
	if slices.ContainsFunc(a.In.Files, func(f *source.Input) bool { return storage.Remote(f.Path) }) {
		least = leastRequested
	}
	if a.Log != nil || size/n < least || 8*numbers*n > a.In.Memory/4 || len(a.In.Files) > mostFetched {
		return false
	}
	for _, f := range a.In.Files {
		if f.Compression != tfrecord.CompressionNone {
			return false
		}
	}
	return true
}

// fileAt returns the file that contains the record with the given number in its split.
func fileAt(files []*fetched, number int64) *fetched {
	return files[sort.Search(len(files), func(i int) bool { return files[i].FirstInSplit > number })-1]
}
