package text

import (
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/shard"
)

// ReadableFaults makes the paths of faults readable.
func ReadableFaults(faults []shard.Fault) {
	for i := range faults {
		faults[i].Path = jsontext.Readable(faults[i].Path)
	}
}
