package plan

import (
	"cmp"
	"slices"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/shares"
)

// Cut assigns samples to n shards and returns the shard of each. A sample goes to the shard whose
// range contains its hash, so that adding or removing one changes only one shard. If that would
// leave a shard below half or above twice the mean, or if even is set, the samples are cut evenly
// in the order of their hashes; tie compares two samples with equal hashes.
func Cut(hashes []uint64, n int, even bool, tie func(i, j int) int) []int32 {
	shards := make([]int32, len(hashes))
	counts := make([]int, n)
	for i, h := range hashes {
		s := shares.RangeOf(h, n)
		shards[i] = int32(s)
		counts[s]++
	}
	if !even && Balanced(counts, len(hashes)) {
		return shards
	}
	for rank, i := range HashOrder(hashes, tie) {
		shards[i] = int32(rank * n / len(hashes))
	}
	return shards
}

// Balanced reports whether no shard is below half or above twice the mean.
func Balanced(counts []int, total int) bool {
	for _, c := range counts {
		if 2*c*len(counts) < total || c*len(counts) > 2*total {
			return false
		}
	}
	return true
}

// HashOrder returns the indexes of the samples in the order of their hashes.
func HashOrder(hashes []uint64, tie func(i, j int) int) []int32 {
	order := make([]int32, len(hashes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		if c := cmp.Compare(hashes[i], hashes[j]); c != 0 {
			return c
		}
		return tie(int(i), int(j))
	})
	return order
}

// Deal deals samples to n shards: it returns the indexes of the samples of each, in their order there.
// A sample goes to the shard that [Cut] assigns by its hash in byShard; its place follows from its hash
// in byOrder. tie compares two samples with equal hashes.
func Deal(byShard, byOrder []uint64, n int, even bool, tie func(i, j int) int) [][]int32 {
	of := Cut(byShard, n, even, tie)
	sizes := make([]int, n)
	for _, shard := range of {
		sizes[shard]++
	}
	shards := make([][]int32, n)
	for i, size := range sizes {
		shards[i] = make([]int32, 0, size)
	}
	for _, i := range HashOrder(byOrder, tie) {
		shards[of[i]] = append(shards[of[i]], i)
	}
	return shards
}

// Smallest returns the indexes of the n samples with the smallest hashes, in the order of the samples.
// Of equal hashes the first come first.
func Smallest(hashes []uint64, n int) []int32 {
	kept := HashOrder(hashes, func(i, j int) int { return i - j })[:n]
	slices.Sort(kept)
	return kept
}

// CountShards returns the number of shards of a split: as many as the options say, or by size, but at
// most one for each of its samples, which are called noun. Bytes estimates the size of their records.
func (o *Options) CountShards(split string, samples int64, noun string, bytes func() int64, existing int) int {
	count := o.ShardsOf(split)
	if count == 0 {
		count = AutoShards(samples, bytes(), existing)
	}
	if int64(count) > samples {
		o.Notef("split %s has only %s, so as many shards, not %d", split, plural.Of(samples, noun), count)
		count = int(samples)
	}
	return count
}

// AutoShards chooses the number of shards of a split, as shares.AutoShards does. The count of an
// existing set is kept while it is within a factor of two, so that a growing set is not redone with
// every new file.
func AutoShards(samples, bytes int64, existing int) int {
	n := int64(shares.AutoShards(samples, bytes))
	if e := int64(existing); e > 0 && e <= 2*n && n <= 2*e && e <= max(samples, 1) {
		return existing
	}
	return int(n)
}
