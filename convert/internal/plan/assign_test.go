package plan

import (
	"fmt"
	"math"
	"testing"

	"github.com/tfrec/tfrec/internal/set/shares"
)

func keyHashes(h shares.Hasher, n int) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = h.Key(fmt.Sprintf("class/%d.jpg", i))
	}
	return hashes
}

func byNumber(i, j int) int { return i - j }

func TestCutMovesNothingWhenASampleComes(t *testing.T) {
	h := shares.NewHasher(3, shares.ForShard)
	before := keyHashes(h, 500)
	after := append(keyHashes(h, 500), h.Key("another.jpg"))
	a, b := Cut(before, 4, false, byNumber), Cut(after, 4, false, byNumber)
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("sample %d moved from shard %d to %d", i, a[i], b[i])
		}
	}
}

func TestCutIsBalancedOrEven(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 10, 33, 100, 1000} {
		for _, shards := range []int{1, 2, 5, 16} {
			if shards > n {
				continue
			}
			for _, even := range []bool{false, true} {
				counts := make([]int, shards)
				for _, s := range Cut(keyHashes(shares.NewHasher(uint64(n), shares.ForShard), n), shards, even, byNumber) {
					counts[s]++
				}
				for s, c := range counts {
					if even && (c < n/shards || c > n/shards+1) {
						t.Errorf("%d samples, %d shards, even: shard %d has %d", n, shards, s, c)
					}
					if 2*c*shards < n-2*shards || c*shards > 2*n+2*shards {
						t.Errorf("%d samples, %d shards: shard %d has %d", n, shards, s, c)
					}
				}
			}
		}
	}
}

func TestCutIsEvenWhereRangesAreNot(t *testing.T) {
	hashes := []uint64{1, 2, 3, 4, 5, 6, 7, 8} // all in the first range
	want := []int32{0, 0, 1, 1, 2, 2, 3, 3}
	got := Cut(hashes, 4, false, byNumber)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("cut %v, want %v", got, want)
		}
	}
}

func TestAutoShards(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		samples, bytes int64
		existing, want int
	}{
		{1, 100, 0, 1},
		{100, 1000, 0, 1},
		{128, 1000, 0, 2},
		{5000, 1 << 20, 0, 16},
		{1_281_167, 140 * gib, 0, 1120},
		{1_281_167, 140 * gib, 600, 600},  // within a factor of two
		{1_281_167, 140 * gib, 500, 1120}, // not
		{1_281_167, 140 * gib, 2240, 2240},
		{3, 10 * gib, 0, 3}, // never more than samples
		{1 << 40, math.MaxInt64 / 2, 0, shares.MaxShards},
	} {
		if got := AutoShards(c.samples, c.bytes, c.existing); got != c.want {
			t.Errorf("autoShards(%d samples, %d bytes, %d before) = %d, want %d", c.samples, c.bytes, c.existing, got, c.want)
		}
	}
}
