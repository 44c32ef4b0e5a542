package listing

import (
	"fmt"
	"path"
	"strings"

	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/storage"
)

// walkStore lists a directory tree in an object store with a single listing, of which one page is
// in memory at a time. The output directory out is skipped if it is inside.
func (w *walker) walkStore(src storage.Location, out string) error {
	below := "" // prefix of the names in the output directory
	if out := storage.Parse(out); out.Remote() {
		if rel, err := src.Rel(out); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			below = rel + "/"
		}
	}
	if below == "./" {
		return fmt.Errorf("%s is both source and output: choose another output directory", src.Path())
	}
	w.directories = append(w.directories, "")
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
			w.found.add(o.Name, o.Version, o.Size, o.ModTime.UnixNano())
		}
	}
	return nil
}

// addDirectories adds the directories of an object that the previous object in the list is not in.
func (w *walker) addDirectories(kept *texts, before, name string) {
	same := 0
	for same < len(name) && same < len(before) && name[same] == before[same] {
		same++
	}
	for i := same; i < len(name); i++ {
		if name[i] == '/' {
			w.directories = append(w.directories, kept.keep([]byte(name[:i])))
		}
	}
}

// texts stores copies of strings in blocks, without overhead per string.
type texts struct{ block *strings.Builder }

// textBlock is the size of a block of texts in bytes.
const textBlock = 64 << 10

func (t *texts) keep(s []byte) string {
	if len(s) == 0 {
		return ""
	}
	if t.block == nil || t.block.Cap()-t.block.Len() < len(s) {
		t.block = new(strings.Builder) // the strings keep the full block alive
		t.block.Grow(max(textBlock, len(s)))
	}
	from := t.block.Len()
	t.block.Write(s)
	return t.block.String()[from:]
}
