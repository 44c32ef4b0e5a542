package convert

import (
	"fmt"
	"path"
	"strings"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/storage"
)

// walkStore lists a directory of an object store and all that lies below it with one
// list, of which a page is in memory at a time. What is kept of an image is its
// path and its version, to the byte, and 96 bytes around them. The output directory
// out, where it lies inside, is left out.
func (w *walker) walkStore(src, out string) error {
	below := "" // what the names in the output directory begin with
	if storage.Remote(out) {
		if rel, err := storage.Rel(src, out); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			below = rel + "/"
		}
	}
	if below == "./" {
		return fmt.Errorf("%s is both source and output: choose another output directory", src)
	}
	w.directories = append(w.directories, "")
	var kept texts
	before := ""
	for o, err := range storage.Walk(w.ctx, src) {
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
			w.special++ // no path has empty names in it, or dots
			w.skipped++
			continue
		}
		if imagetree.HiddenPath(o.Name) {
			if !strings.HasSuffix(o.Name, "/") {
				w.skip(o.Name)
			}
			continue
		}
		w.addDirectories(&kept, before, o.Name)
		before = o.Name
		switch {
		case strings.HasSuffix(o.Name, "/"): // what consoles make to show an empty directory
		case !isPicture(path.Base(o.Name)) || !w.wanted(o.Name):
			w.skipped++
		default:
			w.pictures = append(w.pictures, picture{
				path: kept.keep(o.Name), version: kept.keep(o.Version), size: o.Size, modTime: o.ModTime.UnixNano(),
			})
		}
	}
	return nil
}

// addFolders adds the directories that an object lies in, and the one before it in the
// list does not.
func (w *walker) addDirectories(kept *texts, before, name string) {
	same := 0
	for same < len(name) && same < len(before) && name[same] == before[same] {
		same++
	}
	for i := same; i < len(name); i++ {
		if name[i] == '/' {
			w.directories = append(w.directories, kept.keep(name[:i]))
		}
	}
}

// texts keeps copies of strings in blocks, so that each takes its bytes and no
// more.
type texts struct{ block *strings.Builder }

// textBlock is how many bytes a block of texts has.
const textBlock = 64 << 10

func (t *texts) keep(s string) string {
	if t.block == nil || t.block.Cap()-t.block.Len() < len(s) {
		t.block = new(strings.Builder) // the strings of the full one keep it
		t.block.Grow(max(textBlock, len(s)))
	}
	from := t.block.Len()
	t.block.WriteString(s)
	return t.block.String()[from:]
}
