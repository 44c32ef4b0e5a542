package write

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/shard"
)

// splitChoice numbers the splits: first those of Options.Splits, then others as they come. Which
// number a split has does not show in the set.
type splitChoice struct {
	shares []shard.SplitShare
	hash   shares.Hasher

	mu    *sync.RWMutex
	names []string
}

func newSplitChoice(o *Options) splitChoice {
	c := splitChoice{shares: shares.OrTrain(o.Splits), hash: shares.NewHasher(o.Seed, shares.ForSplit), mu: new(sync.RWMutex)}
	for _, s := range c.shares {
		c.names = append(c.names, s.Name)
	}
	return c
}

// of returns the number of the split of a record: the stated split or, if that is empty, one by the
// hash of the key. For a record without a key, its place is hashed.
func (c *splitChoice) of(key string, place uint64, stated string) (int, error) {
	switch {
	case stated != "":
	case len(c.shares) == 1:
		return 0, nil
	case key == "":
		return shares.ShareOf(c.hash.Number(int64(place)), c.shares), nil
	default:
		return shares.ShareOf(c.hash.Key(key), c.shares), nil
	}
	c.mu.RLock()
	n := slices.Index(c.names, stated)
	c.mu.RUnlock()
	if n >= 0 {
		return n, nil
	}
	if err := shard.CheckSplit(stated); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := slices.Index(c.names, stated); n >= 0 {
		return n, nil
	}
	if len(c.names) == maxSplits {
		return 0, fmt.Errorf("split %s: there are %d splits already, among them %s", stated, maxSplits, strings.Join(c.names[:4], ", "))
	}
	c.names = append(c.names, stated)
	return len(c.names) - 1, nil
}

// order returns the numbers of the splits in the order of the manifest: splits of the options first, as
// they are given, then others by name.
func (c *splitChoice) order() []int {
	order := make([]int, len(c.names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order[len(c.shares):], func(a, b int) int { return strings.Compare(c.names[a], c.names[b]) })
	return order
}
