package manifest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tfrec/tfrec/internal/naming"
)

// TFDSTemplate is the file name template of shards written by tfrec and by TFDS.
const TFDSTemplate = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"

// shardOf matches the shard's index and count in its name.
var shardOf = regexp.MustCompile(`\d{5}-of-\d{5}`)

// tfdsTemplate returns the TFDS template for the names of a split's shards: the usual one, one for
// other prefixes and suffixes with the same numbering, or the name of the only shard. It reports
// false if there is none, since TFDS cannot find the files then.
func tfdsTemplate(dataset string, split Split) (template string, ok bool) {
	n := len(split.Shards)
	if n == 0 {
		return TFDSTemplate, true
	}
	usual := true
	for i, info := range split.Shards {
		usual = usual && info.File == naming.Shard(dataset, split.Name, i, n)
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

// Nameless returns the first split whose shard names TFDS cannot read; "" if there is none.
func (m *Manifest) Nameless() string {
	for _, s := range m.Splits {
		if _, ok := tfdsTemplate(m.Name, s); !ok {
			return s.Name
		}
	}
	return ""
}
