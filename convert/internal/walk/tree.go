package walk

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/annotation/splitlists"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// treeWalker lists a directory tree, on disk or in a store.
type treeWalker struct {
	walker
	out     fs.FileInfo     // the output directory; nil if it does not exist
	others  []otherFile     // to be looked into
	used    []string        // files and directories that are read for other things, "" for all
	visited map[string]bool // real paths of followed directories
	images  compactImages   // until the tree is listed
}

// Tree finds the images below a directory. It skips the output directory out if that is inside. Reads
// are further files that the run reads, which are not in the account.
func Tree(ctx context.Context, o *options.ImageOptions, src origin.Place, out string, reads ...string) (*Found, error) {
	w := &treeWalker{walker: walker{o: o, ctx: ctx}, visited: map[string]bool{}}
	err := setdir.MustDiffer(out, src.At.Path())
	if err != nil {
		return nil, err
	}
	w.out, _ = os.Stat(out) // nil if it does not exist
	w.findUsed(src.At, reads)
	if src.At.Remote() {
		err = w.walkStore(src.At, out)
	} else {
		err = w.walk(src.At.Path(), "")
	}
	if err == nil {
		err = w.lookInto(src.At)
	}
	if err != nil {
		return nil, err
	}
	w.Images = w.images.list()
	slices.SortFunc(w.Images, func(a, b origin.Image) int { return strings.Compare(a.Path, b.Path) })
	w.Files = splitlists.Directory(src.At)
	w.explainBeside()
	w.Origin = &origin.Tree{Root: src.At, Directories: w.Directories, Follow: o.Select.FollowSymlinks}
	return &w.Found, nil
}

// walk lists a directory on disk, which is at below in the source.
func (w *treeWalker) walk(dir, below string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := storage.ReadDir(w.ctx, dir)
	if err != nil {
		return fmt.Errorf("list source: %w", err)
	}
	w.Directories = append(w.Directories, below)
	stats, err := w.statImages(dir, below, entries)
	if err != nil {
		return fmt.Errorf("list source: %w", err)
	}
	if err := w.ctx.Err(); err != nil {
		return err // some were left out
	}
	for i, e := range entries {
		rel := path.Join(below, e.Name())
		if imagetree.Hidden(e.Name()) {
			if err := w.hide(storage.Join(dir, e.Name()), rel); err != nil {
				return err
			}
			continue
		}
		mode, image := e.Type(), stats[i]
		if mode&fs.ModeSymlink != 0 {
			st, err := w.followed(storage.Join(dir, e.Name()), rel)
			if err != nil {
				return err
			}
			if st == nil {
				continue
			}
			mode, image = st.Mode().Type(), stattedOf(st)
		}
		switch {
		case mode.IsDir():
			if err := w.directory(storage.Join(dir, e.Name()), rel); err != nil {
				return err
			}
		case !mode.IsRegular():
			w.leaveOut(account.Special, rel)
		case !imagetree.IsImage(e.Name()) || !w.wanted(rel):
			w.leave(otherFile{path: rel})
		default:
			if image.err != nil {
				return fmt.Errorf("list source: %w", image.err)
			}
			w.images.add(rel, origin.ChangeVersion(image.change), image.size, image.modTime)
		}
	}
	return nil
}

// followed returns the target of a symbolic link; nil if links are not followed or it leads nowhere,
// which it accounts for.
func (w *treeWalker) followed(link, rel string) (fs.FileInfo, error) {
	if !w.o.Select.FollowSymlinks {
		w.leaveOut(account.Link, rel)
		return nil, nil
	}
	st, err := os.Stat(link)
	switch {
	case err == nil:
		return st, nil
	case !origin.LeadsNowhere(err):
		return nil, fmt.Errorf("list source: %w", err)
	case imagetree.IsImage(path.Base(rel)) && w.wanted(rel): // an unreadable image
		w.images.add(rel, "", 0, 0)
	default:
		w.leave(otherFile{path: rel})
	}
	return nil, nil
}

// hide counts a hidden file, or the files in a hidden directory, at rel below the source. Read errors
// are ignored, since none of it is used.
func (w *treeWalker) hide(root, rel string) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case w.ctx.Err() != nil:
			return w.ctx.Err()
		case d == nil || d.IsDir() && err != nil:
			return fs.SkipDir
		case d.IsDir():
			if w.isOut(p) {
				return fs.SkipDir
			}
		default:
			w.leaveHidden(rel + filepath.ToSlash(strings.TrimPrefix(p, root)))
		}
		return nil
	})
}

// isOut reports whether a directory is the output directory.
func (w *treeWalker) isOut(dir string) bool {
	if w.out == nil {
		return false
	}
	st, err := os.Stat(dir)
	return err == nil && os.SameFile(st, w.out)
}

// directory walks a directory, unless it is the output directory or, through links, was already
// visited.
func (w *treeWalker) directory(full, rel string) error {
	if w.isOut(full) {
		return nil
	}
	if w.o.Select.FollowSymlinks {
		real, err := filepath.EvalSymlinks(full)
		if err != nil {
			return fmt.Errorf("follow link: %w", err)
		}
		if w.visited[real] {
			return fmt.Errorf("%s leads to %s, which was listed already: a loop, or the same images twice; leave out %s or %s one", full, real, optname.SelectSpecFollowSymlinks, optname.SelectSpecExclude)
		}
		w.visited[real] = true
	}
	return w.walk(full, rel)
}
