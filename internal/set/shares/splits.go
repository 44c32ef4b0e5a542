// Package shares parses and checks how a set is divided into splits and shards.
package shares

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/shard"
)

// ParseSplits parses "train=0.9,val=0.1" or "train=90%,val=10%".
func ParseSplits(s string) ([]shard.SplitShare, error) {
	var splits []shard.SplitShare
	for part := range strings.SplitSeq(s, ",") {
		name, share, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return nil, fmt.Errorf("%q: want NAME=SHARE such as train=0.9", part)
		}
		v, err := ParseShare(share)
		if err != nil {
			return nil, fmt.Errorf("split %s: %w", name, err)
		}
		splits = append(splits, shard.SplitShare{Name: name, Share: v})
	}
	return splits, CheckSplits(splits)
}

// OrTrain returns the splits, or one named train of everything if there are none.
func OrTrain(splits []shard.SplitShare) []shard.SplitShare {
	if len(splits) == 0 {
		return []shard.SplitShare{{Name: "train", Share: 1}}
	}
	return splits
}

// CheckSplits checks the names of splits and that their shares add up to 1.
func CheckSplits(splits []shard.SplitShare) error {
	var sum float64
	seen := map[string]bool{}
	for _, s := range splits {
		if err := shard.CheckSplit(s.Name); err != nil {
			return err
		}
		if seen[s.Name] {
			return fmt.Errorf("split %s is named twice", s.Name)
		}
		seen[s.Name] = true
		if s.Share == 0 {
			return fmt.Errorf("split %s has no share: leave it out", s.Name)
		}
		if !(s.Share > 0 && s.Share <= 1) {
			return fmt.Errorf("split %s: its share %g is not between 0 and 1", s.Name, s.Share)
		}
		sum += s.Share
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("the shares add up to %g, want 1", sum)
	}
	return nil
}

// ParseShare parses a share between 0 and 1, such as "0.1" or "10%".
func ParseShare(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("share %q: want a number such as 0.1 or 10%%", s)
	}
	if percent {
		v /= 100
	}
	if !(v >= 0 && v <= 1) {
		return 0, fmt.Errorf("share %q is not between 0 and 1", s)
	}
	return v, nil
}
