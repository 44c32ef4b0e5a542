package convert

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/size"
)

// checkRoom refuses to stage shards that the disk has no room for beside the old ones,
// as far as their sizes are known: by those that they had, which is a guess where the
// options change them, and then only noted.
func (r *run) checkRoom(todo []int) error {
	var need, old int64
	sizes := map[string]int64{}
	for _, split := range r.before.manifest.Splits {
		for _, info := range split.Shards {
			sizes[info.File] = info.Bytes
			old += info.Bytes
		}
	}
	known := true
	for _, i := range todo {
		bytes, ok := sizes[r.jobs[i].name.String()]
		need, known = need+bytes, known && ok
	}
	sure := known && r.difference(r.before) == ""
	if !known {
		need = old / int64(max(len(sizes), 1)) * int64(len(todo))
	}
	free, ok := r.dir.Free()
	if !ok || need <= free {
		return nil
	}
	text := fmt.Sprintf("%s: %s is needed for the new shards, which are written beside the old ones until all are whole, and %s is free", r.dir.Path(), size.Format(need), size.Format(free))
	if !sure {
		r.note("about %s", text)
		return nil
	}
	return fmt.Errorf("%s: make room, or convert into another directory", text)
}
