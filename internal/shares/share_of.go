package shares

import (
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/shard"
)

// ShareOf returns which of the splits a hash falls to: the shares cut the hash's
// values into ranges, so that another record never moves this one.
func ShareOf(hash uint64, splits []shard.SplitShare) int {
	at := Unit(hash)
	var end float64
	for i, s := range splits {
		end += s.Share
		if at < end {
			return i
		}
	}
	return len(splits) - 1
}

// Unit is a hash as a number from 0 to below 1.
func Unit(hash uint64) float64 { return float64(hash>>11) / (1 << 53) }

// FormatSplits writes splits as ParseSplits reads them.
func FormatSplits(splits []shard.SplitShare) string {
	parts := make([]string, len(splits))
	for i, s := range splits {
		parts[i] = fmt.Sprintf("%s=%g", s.Name, s.Share)
	}
	return strings.Join(parts, ",")
}
