package shard

import (
	"fmt"
	"regexp"
	"strings"
)

// TFDSTemplate is the template of the names that ours and TFDS's own shards have.
const TFDSTemplate = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"

// shardOf matches the part of a shard's name that says which of how many it is.
var shardOf = regexp.MustCompile(`\d{5}-of-\d{5}`)

// tfdsTemplate returns the template that makes the names of a split's shards for
// TFDS: the usual one, one of other writers' names that number the shards in
// the same way, or the name of the only shard. It reports false when there is
// none: TFDS finds files by no other names.
func tfdsTemplate(dataset string, split Split) (template string, ok bool) {
	n := len(split.Shards)
	if n == 0 {
		return TFDSTemplate, true
	}
	usual := true
	for i, info := range split.Shards {
		usual = usual && info.File == Name{Dataset: dataset, Split: split.Name, Index: i, Count: n}.String()
	}
	if usual {
		return TFDSTemplate, true
	}
	first := split.Shards[0].File
	if strings.ContainsAny(first, "{}") {
		return "", false
	}
	for _, at := range shardOf.FindAllStringIndex(first, -1) {
		head, tail := first[:at[0]], first[at[1]:]
		fits := true
		for i, info := range split.Shards {
			fits = fits && info.File == fmt.Sprintf("%s%05d-of-%05d%s", head, i, n, tail)
		}
		if fits {
			return head + "{SHARD_X_OF_Y}" + tail, true
		}
	}
	return first, n == 1
}

// Nameless returns the first split whose shards have names that TFDS does not
// take; "" when it takes all.
func (m *Manifest) Nameless() string {
	for _, s := range m.Splits {
		if _, ok := tfdsTemplate(m.Name, s); !ok {
			return s.Name
		}
	}
	return ""
}
