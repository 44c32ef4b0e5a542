package plan

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"
)

// Purpose names a random choice. Each has its own hash, since the choices would correlate
// otherwise: with one hash for all, a limited set would land in the first shards of the first
// split.
type Purpose string

const (
	ForLimit Purpose = "limit"
	ForSplit Purpose = "split"
	ForShard Purpose = "shard"
	ForOrder Purpose = "order"
	// ForPartner chooses the images that are mixed into others.
	ForPartner Purpose = "partner"
)

// Hasher is H(seed, purpose, ·): XXH3-64 of a key, seeded by the XXH3-64 of
// the purpose, a NUL and the seed's eight bytes, little-endian.
type Hasher uint64

// NewHasher returns the hasher of a choice.
func NewHasher(seed uint64, p Purpose) Hasher {
	b := binary.LittleEndian.AppendUint64(append([]byte(p), 0), seed)
	return Hasher(xxh3.Hash(b))
}

// Key hashes a sample identified by its key.
func (h Hasher) Key(key string) uint64 { return xxh3.HashStringSeed(key, uint64(h)) }

// Number hashes a sample identified by its number, such as a CSV row.
func (h Hasher) Number(n int64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	return xxh3.HashSeed(b[:], uint64(h))
}

// RangeOf returns which of n equal ranges of hash values contains hash.
func RangeOf(hash uint64, n int) int {
	hi, _ := bits.Mul64(hash, uint64(n))
	return int(hi)
}

// Cut assigns samples to n shards and returns the shard of each. A sample goes to the shard whose
// range contains its hash, so that adding or removing one changes only one shard. If that would
// leave a shard below half or above twice the mean, or if even is set, the samples are cut evenly
// in the order of their hashes; tie compares two samples with equal hashes.
func Cut(hashes []uint64, n int, even bool, tie func(i, j int) int) []int32 {
	shards := make([]int32, len(hashes))
	counts := make([]int, n)
	for i, h := range hashes {
		s := RangeOf(h, n)
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

// Target sizes of --shards auto.
const (
	autoShardBytes   = 128 << 20
	autoShardSamples = 64
	autoMinShards    = 16
)

// AutoShards chooses the number of shards of a split from the estimated size of its records: about
// 128 MiB per shard, but at least min(16, samples/64) and at least one. The count of an existing
// set is kept while it is within a factor of two, so that a growing set is not redone with every
// new file.
func AutoShards(samples, bytes int64, existing int) int {
	n := max((bytes+autoShardBytes-1)/autoShardBytes, min(autoMinShards, samples/autoShardSamples), 1)
	n = min(n, maxShards, max(samples, 1))
	if e := int64(existing); e > 0 && e <= 2*n && n <= 2*e && e <= max(samples, 1) {
		return existing
	}
	return int(n)
}
