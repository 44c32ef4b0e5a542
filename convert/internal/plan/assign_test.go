package plan

import (
	"fmt"
	"math"
	"testing"

	"github.com/tfrec/tfrec/internal/shares"
)

func keyHashes(h Hasher, n int) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = h.Key(fmt.Sprintf("class/%d.jpg", i))
	}
	return hashes
}

func byNumber(i, j int) int { return i - j }

// The hashes determine the shard of every sample in existing sets: these values must never change.
func TestHashesAreFrozen(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		p    Purpose
		key  string
		want uint64
	}{
		{0, ForLimit, "a.jpg", 0x8af9f1c94787919c},
		{0, ForSplit, "a.jpg", 0x89e99c1c12cbba9a},
		{0, ForShard, "a.jpg", 0xee266aa6d79b77a4},
		{0, ForOrder, "a.jpg", 0x2a0dfa1fdcf8ec6e},
		{7, ForOrder, "a.jpg", 0x7a97edcf56eac3c5},
		{7, ForOrder, "", 0xb4a01957c14a59b6},
	} {
		if got := NewHasher(c.seed, c.p).Key(c.key); got != c.want {
			t.Errorf("H(%d, %s, %q) = %#x, want %#x", c.seed, c.p, c.key, got, c.want)
		}
	}
}

func TestPurposesDoNotCorrelate(t *testing.T) {
	const n = 20000
	purposes := []Purpose{ForLimit, ForSplit, ForShard, ForOrder}
	for i, p := range purposes {
		for _, q := range purposes[i+1:] {
			hp, hq := keyHashes(NewHasher(1, p), n), keyHashes(NewHasher(1, q), n)
			both := 0
			for k := range hp {
				if hp[k]>>63 == hq[k]>>63 {
					both++
				}
			}
			// Six standard deviations of a fair coin.
			if d := math.Abs(float64(both) - n/2); d > 3*math.Sqrt(n) {
				t.Errorf("%s and %s agree on %d of %d first bits", p, q, both, n)
			}
		}
	}
}

func TestCutMovesNothingWhenASampleComes(t *testing.T) {
	h := NewHasher(3, ForShard)
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
				for _, s := range Cut(keyHashes(NewHasher(uint64(n), ForShard), n), shards, even, byNumber) {
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

func TestSplitsFollowTheirShares(t *testing.T) {
	divided := []SplitShare{{Name: "train", Share: 0.8}, {Name: "val", Share: 0.15}, {Name: "test", Share: 0.05}}
	h := NewHasher(0, ForSplit)
	const n = 50000
	counts := make([]float64, len(divided))
	for _, x := range keyHashes(h, n) {
		counts[shares.ShareOf(x, divided)]++
	}
	for i, s := range divided {
		if math.Abs(counts[i]/n-s.Share) > 0.01 {
			t.Errorf("%s got %.3f of the samples, want %.2f", s.Name, counts[i]/n, s.Share)
		}
	}
	if got := shares.ShareOf(math.MaxUint64, divided); got != 2 {
		t.Errorf("the largest hash falls to split %d, want the last", got)
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
		{1 << 40, math.MaxInt64 / 2, 0, maxShards},
	} {
		if got := AutoShards(c.samples, c.bytes, c.existing); got != c.want {
			t.Errorf("autoShards(%d samples, %d bytes, %d before) = %d, want %d", c.samples, c.bytes, c.existing, got, c.want)
		}
	}
}
