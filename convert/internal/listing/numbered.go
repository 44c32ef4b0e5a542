package listing

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/storage"
)

// nameNumbered gives each record or row its key: its own name if no other has it, and otherwise
// FILE#NUMBER, as the origin names it in the ledger. It drops those that the globs do not select.
func (w *walker) nameNumbered(o origin.Origin) error {
	byPath := func(p, q origin.Image) int { return strings.Compare(p.Path, q.Path) }
	slices.SortFunc(w.images, byPath)
	for begin, end := 0, 0; begin < len(w.images); begin = end {
		name := w.images[begin].Path
		for end = begin; end < len(w.images) && w.images[end].Path == name; end++ {
		}
		if end == begin+1 && name != "" {
			continue
		}
		for i := begin; i < end; i++ {
			w.images[i].Path = o.Source(&w.images[i])
		}
	}
	slices.SortFunc(w.images, byPath)
	kept := w.images[:0]
	for i, p := range w.images {
		if i > 0 && len(kept) > 0 && kept[len(kept)-1].Path == p.Path {
			return fmt.Errorf("%s is the name of one record or row, and the number of another without a name: rename the first", jsontext.Readable(p.Path))
		}
		if !w.wanted(p.Path) {
			w.leaveOut(account.Excluded, p.Path)
			continue
		}
		if bad := p.Bad(); bad != nil {
			bad.Key = jsontext.Readable(p.Path)
		}
		kept = append(kept, p)
	}
	w.images = kept
	return nil
}

// namesOf returns a name for each file: its path below the directory that all files share.
func namesOf(paths []string) []string {
	dir := storage.Dir(paths[0])
	below := func(path string) (name string, ok bool) {
		rel, err := storage.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
	}
	for _, path := range paths {
		for _, ok := below(path); !ok && dir != storage.Dir(dir); _, ok = below(path) {
			dir = storage.Dir(dir)
		}
	}
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i], _ = below(path)
	}
	return names
}
