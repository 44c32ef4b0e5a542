package shares

import (
	"fmt"
	"math"
	"testing"

	"github.com/tfrec/tfrec/shard"
)

func keyHashes(h Hasher, n int) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = h.Key(fmt.Sprintf("class/%d.jpg", i))
	}
	return hashes
}

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

func TestSplitsFollowTheirShares(t *testing.T) {
	splits := []shard.SplitShare{{Name: "train", Share: 0.8}, {Name: "val", Share: 0.15}, {Name: "test", Share: 0.05}}
	h := NewHasher(0, ForSplit)
	const n = 50000
	counts := make([]float64, len(splits))
	for _, x := range keyHashes(h, n) {
		counts[ShareOf(x, splits)]++
	}
	for i, s := range splits {
		if math.Abs(counts[i]/n-s.Share) > 0.01 {
			t.Errorf("%s got %.3f of the samples, want %.2f", s.Name, counts[i]/n, s.Share)
		}
	}
	if got := ShareOf(math.MaxUint64, splits); got != 2 {
		t.Errorf("the largest hash falls to split %d, want the last", got)
	}
}
