package shares

import (
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/shard"
)

// ShareOf returns the index of the split that a hash belongs to. The shares partition the range of
// hash values, so other records never affect this one.
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

// Unit maps a hash to a number in [0, 1).
func Unit(hash uint64) float64 { return float64(hash>>11) / (1 << 53) }

// FormatSplits formats splits as ParseSplits parses them.
func FormatSplits(splits []shard.SplitShare) string {
	parts := make([]string, len(splits))
	for i, s := range splits {
		parts[i] = fmt.Sprintf("%s=%g", s.Name, s.Share)
	}
	return strings.Join(parts, ",")
}
