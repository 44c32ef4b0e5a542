package walk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/jsontext"
)

// nameNumbered gives each record or row its key: its own name if no other has it, and otherwise
// FILE#NUMBER, as the origin, which must be set, names it in the ledger. It drops those that the
// globs do not select.
func (w *walker) nameNumbered() error {
	byPath := func(p, q origin.Image) int { return strings.Compare(p.Path, q.Path) }
	slices.SortFunc(w.Images, byPath)
	for begin, end := 0, 0; begin < len(w.Images); begin = end {
		name := w.Images[begin].Path
		for end = begin; end < len(w.Images) && w.Images[end].Path == name; end++ {
		}
		if end == begin+1 && name != "" {
			continue
		}
		for i := begin; i < end; i++ {
			w.Images[i].Path = w.Origin.Source(&w.Images[i])
		}
	}
	slices.SortFunc(w.Images, byPath)
	kept := w.Images[:0]
	for i, p := range w.Images {
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
	w.Images = kept
	return nil
}
