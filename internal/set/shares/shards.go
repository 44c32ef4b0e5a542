package shares

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/shard"
)

// ShardsHelp describes the values that ParseShards parses to users of the command.
const ShardsHelp = "number of shards in each split, or by split; auto makes one per 128 MiB, and more of small sets"

// ParseShards parses the number of shards of each split: "16" for all splits, or "train=16,val=2"
// by split. Both results are zero for "auto".
func ParseShards(s string) (each int, bySplit map[string]int, err error) {
	if s == "auto" {
		return 0, nil, nil
	}
	if !strings.Contains(s, "=") {
		if each, err = parseShardCount(s); err != nil {
			err = fmt.Errorf("%w, numbers by split such as train=16,val=2, or auto", err)
		}
		return each, nil, err
	}
	bySplit = map[string]int{}
	for part := range strings.SplitSeq(s, ",") {
		name, number, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return 0, nil, fmt.Errorf("%q: want SPLIT=N such as train=16", part)
		}
		if _, twice := bySplit[name]; twice {
			return 0, nil, fmt.Errorf("split %s is named twice", name)
		}
		if bySplit[name], err = parseShardCount(number); err != nil {
			return 0, nil, fmt.Errorf("split %s: %q: %w", name, number, err)
		}
	}
	return 0, bySplit, CheckShards(0, bySplit)
}

func parseShardCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > MaxShards {
		return 0, fmt.Errorf("want a number from 1 to %d", MaxShards)
	}
	return n, nil
}

// CheckShards checks numbers of shards, either one for each split or by split.
func CheckShards(each int, bySplit map[string]int) error {
	if each < 0 || each > MaxShards {
		return fmt.Errorf("%d is not between 1 and %d", each, MaxShards)
	}
	if each > 0 && len(bySplit) > 0 {
		return fmt.Errorf("%d for each split and %s: give one of them", each, FormatShards(bySplit))
	}
	for _, name := range slices.Sorted(maps.Keys(bySplit)) {
		if err := shard.CheckSplit(name); err != nil {
			return err
		}
		if n := bySplit[name]; n < 1 || n > MaxShards {
			return fmt.Errorf("split %s: %d is not between 1 and %d", name, n, MaxShards)
		}
	}
	return nil
}

// CheckShardsOf returns an error if bySplit names a split that is not in splits.
func CheckShardsOf(splits []string, bySplit map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(bySplit)) {
		if !slices.Contains(splits, name) {
			return fmt.Errorf("there is no split %s; there are: %s", name, strings.Join(splits, ", "))
		}
	}
	return nil
}

// FormatShards formats numbers of shards as ParseShards parses them, sorted by split.
func FormatShards(bySplit map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(bySplit)) {
		parts = append(parts, fmt.Sprintf("%s=%d", name, bySplit[name]))
	}
	return strings.Join(parts, ",")
}

// MaxShards is the most shards that the five digits of a shard's name can number.
const MaxShards = 99999

// First returns the number of the first record of a shard, from 0, when records are divided evenly
// among shards; First(shards, shards, records) is records.
func First(shard, shards, records int64) int64 {
	q, r := records/shards, records%shards
	return shard*q + shard*r/shards
}

// Target sizes of shards whose number is chosen.
const (
	autoShardBytes   = 128 << 20
	autoShardRecords = 64
	autoMinShards    = 16
)

// AutoShards chooses the number of shards of a split from its size: about 128 MiB per shard, but at
// least min(16, records/64), at least one, and at most one per record.
func AutoShards(records, bytes int64) int {
	n := max((bytes+autoShardBytes-1)/autoShardBytes, min(autoMinShards, records/autoShardRecords), 1)
	return int(min(n, MaxShards, max(records, 1)))
}
