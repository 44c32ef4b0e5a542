package walk

import (
	"fmt"
	"path"
	"strings"

	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// walkStore lists a directory tree in an object store with a single listing, of which one page is
// in memory at a time. The output directory out is skipped if it is inside.
func (w *treeWalker) walkStore(src storage.Location, out string) error {
	below := "" // prefix of the names in the output directory
	if out := storage.Parse(out); out.Remote() {
		if rel, err := src.Rel(out); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			below = rel + "/"
		}
	}
	w.Directories = append(w.Directories, "")
	var kept texts
	before := ""
	for o, err := range src.Walk(w.ctx) {
		if err == nil {
			err = w.ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("list source: %w", err)
		}
		if below != "" && strings.HasPrefix(o.Name, below) {
			continue
		}
		if whole := strings.TrimSuffix(o.Name, "/"); path.Clean("/"+whole) != "/"+whole {
			w.leaveOut(account.Special, o.Name) // paths have no empty or dot elements
			continue
		}
		if imagetree.HiddenPath(o.Name) {
			if !strings.HasSuffix(o.Name, "/") {
				w.leaveHidden(o.Name)
			}
			continue
		}
		w.addDirectories(&kept, before, o.Name)
		before = o.Name
		switch {
		case strings.HasSuffix(o.Name, "/"): // consoles make these for empty directories
		case !imagetree.IsImage(path.Base(o.Name)) || !w.wanted(o.Name):
			w.leave(otherFile{o.Name, o.Version, o.Size, o.ModTime.UnixNano()})
		default:
			w.images.add(o.Name, o.Version, o.Size, o.ModTime.UnixNano())
		}
	}
	return nil
}

// addDirectories adds the directories of an object that the previous object in the list is not in.
func (w *treeWalker) addDirectories(kept *texts, before, name string) {
	same := 0
	for same < len(name) && same < len(before) && name[same] == before[same] {
		same++
	}
	for i := same; i < len(name); i++ {
		if name[i] == '/' {
			w.Directories = append(w.Directories, kept.keep([]byte(name[:i])))
		}
	}
}
