package walk

import (
	"io/fs"
	"path"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// statted is the size and times of a file in a directory, or why there are none.
type statted struct {
	size, modTime int64
	change        string // as storage.Change has it
	err           error
}

func stattedOf(st fs.FileInfo) statted {
	return statted{size: st.Size(), modTime: st.ModTime().UnixNano(), change: storage.Change(st)}
}

// Several files of a directory are queried at a time: on a network file system each takes a round
// trip, and on a disk a system call that another processor can make.
const (
	statsAtOnce = 8
	statBatch   = 64 // files that one goroutine queries
)

// statImages returns the sizes and times of the selected images among the entries of a directory, by
// the number of the entry. Links and other files have zero values.
func (w *treeWalker) statImages(at, below string, entries []fs.DirEntry) ([]statted, error) {
	dir, err := openNamedDir(at)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	found := make([]statted, len(entries))
	globs := len(w.o.Select.Include)+len(w.o.Select.Exclude) > 0
	stat := func(from, to int) {
		for i := from; i < to && w.ctx.Err() == nil; i++ {
			name := entries[i].Name()
			if !entries[i].Type().IsRegular() || imagetree.Hidden(name) || !imagetree.IsImage(name) || globs && !w.o.Select.Wants(path.Join(below, name)) {
				continue
			}
			if found[i] = dir.stat(name); found[i].err != nil {
				return
			}
		}
	}
	var g errgroup.Group
	g.SetLimit(statsAtOnce)
	for from := 0; from < len(entries); from += statBatch {
		if to := min(from+statBatch, len(entries)); len(entries) > statBatch {
			g.Go(func() error { stat(from, to); return nil })
		} else {
			stat(from, to)
		}
	}
	_ = g.Wait()
	return found, nil
}
