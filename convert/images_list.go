package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/shard"
)

// picture is a planned sample: a file below the source folder.
type picture struct {
	path    string // below the source, with /; any bytes
	split   string // of its split folder, "" where there are none
	label   string // "" where there are none
	id      int32  // of the label, with the offset
	size    int64
	modTime int64            // nanoseconds since 1970
	version string           // in an object store; "" on a disk
	bad     *shard.BadSample // why it cannot be used, when the listing knows
}

// listing is what lies in a source folder.
type listing struct {
	pictures []picture // sorted by path
	skipped  int64     // other files
	labels   []string  // names in the order of their ids, without the offset
	splits   []string  // of split folders, sorted; empty where there are none
	folders  []string  // that were looked into, below the source
}

// pictureExtensions are the names that make a file a picture, in any case.
// What it really is, its content decides.
var pictureExtensions = []string{".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff"}

// splitFolders are the names of folders that name a split.
var splitFolders = []string{"train", "val", "validation", "test"}

func isPicture(name string) bool {
	return slices.Contains(pictureExtensions, strings.ToLower(path.Ext(name)))
}

// list finds the pictures below src with their labels and splits. The output
// folder, where it lies inside, is not looked into.
func (o *ImageOptions) list(ctx context.Context, src, out string) (*listing, error) {
	st, err := storage.Stat(src)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("source %s is not a folder; give the folder that the pictures lie in", src)
	}
	w := &walker{o: o, ctx: ctx, visited: map[string]bool{}}
	if w.out, err = os.Stat(out); err == nil && os.SameFile(st, w.out) {
		return nil, fmt.Errorf("%s is both source and output: choose another output folder", src)
	}
	if storage.Remote(src) {
		err = w.walkStore(src, out)
	} else {
		err = w.walk(src, "")
	}
	if err != nil {
		return nil, err
	}
	w.report()
	l := &listing{pictures: w.pictures, skipped: w.skipped, folders: w.folders}
	slices.SortFunc(l.pictures, func(a, b picture) int { return strings.Compare(a.path, b.path) })
	if o.LabelFile != "" {
		if err := l.labelsFromFile(ctx, src, o); err != nil {
			return nil, err
		}
	}
	if len(l.pictures) == 0 {
		return nil, fmt.Errorf("no pictures in %s (%d other files): want files named %s", src, l.skipped, strings.Join(pictureExtensions, " "))
	}
	if err := l.splitsFromFolders(o); err != nil {
		return nil, err
	}
	if o.LabelFile == "" && !o.Unlabelled {
		if err := l.labelsFromFolders(); err != nil {
			return nil, err
		}
	}
	l.number(&o.Options, o.LabelOffset)
	return l, nil
}

// walker lists a folder and what lies below it: of the disk, or see walkStore.
type walker struct {
	o        *ImageOptions
	ctx      context.Context
	out      fs.FileInfo // of the output folder; nil when there is none
	pictures []picture
	folders  []string
	skipped  int64
	links    int64           // symbolic links not followed
	special  int64           // neither files nor folders
	visited  map[string]bool // real paths of followed folders
}

func (w *walker) walk(dir, below string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := storage.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list source: %w", err)
	}
	w.folders = append(w.folders, below)
	for _, e := range entries {
		rel := path.Join(below, e.Name())
		full := storage.Join(dir, e.Name())
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			if !w.o.FollowSymlinks {
				w.links++
				w.skipped++
				continue
			}
			st, err := os.Stat(full)
			if err != nil {
				// It leads nowhere: a picture that cannot be read, if it is one.
				if isPicture(e.Name()) && w.wanted(rel) {
					w.pictures = append(w.pictures, picture{path: rel})
				} else {
					w.skipped++
				}
				continue
			}
			mode = st.Mode().Type()
		}
		switch {
		case mode.IsDir():
			if err := w.folder(full, rel); err != nil {
				return err
			}
		case !mode.IsRegular():
			w.special++
			w.skipped++
		case !isPicture(e.Name()) || !w.wanted(rel):
			w.skipped++
		default:
			st, err := os.Stat(full) // a followed link's file counts
			if err != nil {
				return fmt.Errorf("list source: %w", err)
			}
			w.pictures = append(w.pictures, picture{path: rel, size: st.Size(), modTime: st.ModTime().UnixNano()})
		}
	}
	return nil
}

// folder walks into a folder, unless it is the output's or, by way of links,
// one that it has been in.
func (w *walker) folder(full, rel string) error {
	if w.out != nil {
		if st, err := os.Stat(full); err == nil && os.SameFile(st, w.out) {
			return nil
		}
	}
	if w.o.FollowSymlinks {
		real, err := filepath.EvalSymlinks(full)
		if err != nil {
			return fmt.Errorf("follow link: %w", err)
		}
		if w.visited[real] {
			return fmt.Errorf("%s leads to %s, which was listed already: a loop, or the same pictures twice; leave out --follow-symlinks or --exclude one", full, real)
		}
		w.visited[real] = true
	}
	return w.walk(full, rel)
}

// wanted reports whether the globs take a path.
func (w *walker) wanted(rel string) bool {
	matches := func(glob string) bool {
		name := rel
		if !strings.Contains(glob, "/") {
			name = path.Base(rel)
		}
		ok, _ := doublestar.Match(glob, name) // checkGlobs has seen it
		return ok
	}
	if len(w.o.Include) > 0 && !slices.ContainsFunc(w.o.Include, matches) {
		return false
	}
	return !slices.ContainsFunc(w.o.Exclude, matches)
}

func (w *walker) report() {
	if w.links > 0 {
		w.o.note("%s not followed (--follow-symlinks follows them)", plural(w.links, "symbolic link"))
	}
	if w.special > 0 {
		w.o.note("%s that are neither files nor folders were left alone", plural(w.special, "name"))
	}
}

// checkGlobs says which glob is malformed.
func (o *ImageOptions) checkGlobs() error {
	for _, g := range o.Include {
		if !doublestar.ValidatePattern(g) {
			return optionError("include", "%q is no valid glob", g)
		}
	}
	for _, g := range o.Exclude {
		if !doublestar.ValidatePattern(g) {
			return optionError("exclude", "%q is no valid glob", g)
		}
	}
	return nil
}

// splitsFromFolders takes the first folders as splits when all of them are
// named like one.
func (l *listing) splitsFromFolders(o *ImageOptions) error {
	var named []string // split folders that hold pictures
	stray := ""        // a picture outside of them
	for i := range l.pictures {
		p := &l.pictures[i]
		if p.bad != nil {
			continue // its path says nothing
		}
		first, _, ok := strings.Cut(p.path, "/")
		switch {
		case !ok || !slices.Contains(splitFolders, first):
			stray = p.path
		case !slices.Contains(named, first):
			named = append(named, first)
		}
	}
	slices.Sort(named)
	switch {
	case len(named) == 0:
		return nil
	case stray != "" && len(named) > 1:
		// Taken as classes, what was held out for testing would be trained on.
		return fmt.Errorf("%s are split folders, but %s lies in none of them: move it, or leave it out with --exclude", strings.Join(named, ", "), shard.Readable(stray))
	case stray != "":
		o.note("the folder %s is taken as a class, not as a split: there are pictures outside of it, such as %s", named[0], shard.Readable(stray))
		return nil
	}
	l.splits = named
	for i := range l.pictures {
		p := &l.pictures[i]
		p.split, _, _ = strings.Cut(p.path, "/")
		if !slices.Contains(named, p.split) {
			p.split = named[0] // a bad sample that tells no better
		}
	}
	if len(o.Splits) > 0 {
		return fmt.Errorf("the source has split folders (%s), which --splits would cut anew: leave it out", strings.Join(l.splits, ", "))
	}
	return nil
}

// errUnlabelled says how pictures get labels.
var errUnlabelled = errors.New("put it into a class folder, leave it out with --exclude, label it with --labels FILE.csv, or give --unlabelled")

// labelsFromFolders takes the first folder below the split as the label.
func (l *listing) labelsFromFolders() error {
	for i := range l.pictures {
		p := &l.pictures[i]
		rest := p.path
		if p.split != "" {
			_, rest, _ = strings.Cut(rest, "/")
		}
		label, _, ok := strings.Cut(rest, "/")
		if !ok {
			return fmt.Errorf("%s lies in no class folder, so it has no label: %w", shard.Readable(p.path), errUnlabelled)
		}
		p.label = label
	}
	return nil
}

// number gives each label its id: its index in the order of labels.Sort, after the
// background names.
func (l *listing) number(o *Options, offset int) {
	for _, p := range l.pictures {
		if n := len(l.labels); p.label != "" && (n == 0 || l.labels[n-1] != p.label) {
			l.labels = append(l.labels, p.label)
		}
	}
	l.labels = o.orderLabels(l.labels, offset)
	ids := make(map[string]int32, len(l.labels))
	for i, name := range l.labels {
		ids[name] = int32(offset + i)
	}
	for i := range l.pictures {
		l.pictures[i].id = ids[l.pictures[i].label]
	}
}
