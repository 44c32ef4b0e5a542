package shares

import (
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/shard"
)

// SplitOf returns the split that the name of a record file states: photos-val.tfrecord-00000-of-00001
// and val.record are of the split val. It returns "" if the name states none.
func SplitOf(file string) string {
	if name, ok := shard.ParseName(file); ok {
		return name.Split
	}
	return naming.SplitIn(file)
}
