package plan

import (
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/size"
)

// noteRoom notes if the disk may not have room for the new shards in addition to the old ones. That
// is not an error, since their size is only known once they are made. If it cannot be estimated
// from the input, records are assumed to be as large as the old ones.
func (r *run) noteRoom(todo []int) {
	free, ok := setdir.Free(r.dir)
	if !ok {
		return
	}
	var oldBytes, oldRecords, need int64
	for _, split := range r.before.manifest.Splits {
		for _, info := range split.Shards {
			oldBytes, oldRecords = oldBytes+info.Bytes, oldRecords+info.Records
		}
	}
	for _, i := range todo {
		j := r.shards[i]
		if j.Bytes == 0 {
			j.Bytes = j.Samples * (oldBytes / max(oldRecords, 1))
		}
		need += j.Bytes
	}
	if need > free {
		r.Notef("%s: the new shards may take about %s in addition to the old ones, and %s is free; if the disk fills up, the set stays as it is", r.dir.Path(), size.Format(need), size.Format(free))
	}
}
