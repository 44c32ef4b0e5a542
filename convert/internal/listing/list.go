package listing

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
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/manifest"
)

// Listing is the content of a source.
type Listing struct {
	Origin      origin.Origin
	WebDataset  bool
	Images      []origin.Image  // sorted by path
	Loose       []origin.Image  // annotations of no image: not samples, but lines of the ledger
	excluded    []string        // paths of images that the globs leave out, for annotations
	Skipped     int64           // other files
	Account     account.Account // of them, by reason
	left        []leftFile      // of them, until a table is read
	Labels      []string        // names in id order, without the offset
	Synsets     []string        // labels in the source, by id, if their names are others
	Values      []int64         // of labels without names: the integers that are stored; else nil
	Texts       []string        // of values
	rows        *imageTable     // of LabelSpec.File, until labels have ids; nil without
	Features    []manifest.Feature
	Carried     *Carried     // of TFRecords; nil for other sources
	LabelMap    bool         // labels are those of the objects of TFRecords
	Columns     Columns      // of Parquet and Arrow files
	Splits      []string     // that the source states, sorted; empty without
	SplitsBy    string       // what states them, as in plan.OptionSplits
	stated      string       // the same for people, of what is stated for each image by itself
	above       int          // how many names of a path are above its label: of directories of splits
	Annotations *Annotations // nil without AnnotationSpec.Files
	Masks       *origin.Tree // nil without AnnotationSpec.Masks
	Colors      *MaskColors  // of RGB masks; nil without a list of them
	directories []string     // those of the source, relative to it
	Causes      []string     // why rows of a table name no image
	stating     []string     // files that may state splits, relative to the source
}

// List finds the images of a source with their labels and splits.
func List(ctx context.Context, o *options.ImageOptions, src origin.Place, out string) (*Listing, error) {
	w := &walker{o: o, ctx: ctx, visited: map[string]bool{}}
	l := new(Listing)
	var err error
	var archives *archiveWalker
	var records *recordWalker
	var rows *rowWalker
	if o.ArchiveFormat != "" && o.ArchiveFormat != options.AutoFormat && src.Archives == nil {
		return nil, plan.OptionErrorf(optname.ImageOptionsArchiveFormat, "is for archives, and %s is not one", src.At.Path())
	}
	if o.Select.ByContent && src.Directory == nil {
		return nil, plan.OptionErrorf(optname.SelectSpecByContent, "is for directories, and %s is not one", src.At.Path())
	}
	if src.Tables != nil || src.Records != nil {
		if err := o.Annotations.RefuseForRecords(); err != nil {
			return nil, err
		}
	}
	if l.Colors, err = readMaskColors(ctx, o); err != nil {
		return nil, err
	}
	if l.Colors != nil {
		w.reads = append(w.reads, l.Colors.At.Path())
	}
	switch {
	case src.Tables != nil:
		if rows, err = w.listRows(src); err == nil {
			l.Origin = rows.origin
		}
	case src.Records != nil:
		if records, err = w.listRecords(src, out); err == nil {
			l.Origin, l.Carried = records.origin, records.carried
		}
	case src.Archives != nil:
		if archives, err = w.listArchives(src); err == nil {
			l.Origin, l.WebDataset = archives.origin, archives.origin.PartsOf != nil
		}
	default:
		l.Origin, err = w.listTree(src, out)
	}
	if err != nil {
		return nil, err
	}
	if len(o.Features) > 0 && o.Labels.File == "" && !l.WebDataset && rows == nil {
		return nil, plan.OptionErrorf(optname.ImageOptionsFeatures, "is for %s, WebDatasets, and images in Parquet or Arrow files", optname.LabelSpecFile)
	}
	if a := &o.Annotations; a.MinVisibility != 0 && !a.HasObjects() && !MovesCarried(o, l.Carried) {
		return nil, plan.OptionErrorf(optname.AnnotationSpecMinVisibility, "is for %s, and for TFRecords with objects whose images change", optname.AnnotationSpecFiles)
	}
	l.Images, l.excluded, l.Skipped, l.directories, l.stating = w.images, w.excluded, w.skipped, w.directories, w.stating
	l.Account, l.left = w.account, w.left
	if o.Labels.File != "" {
		if err := l.imagesFromTable(ctx, o); err != nil {
			return nil, err
		}
	}
	l.noteLeft(o)
	switch {
	case records != nil:
		return l, records.finish(l)
	case rows != nil:
		return l, rows.finish(l)
	}
	if len(l.Images) == 0 {
		want := strings.Join(imagetree.Extensions, " ")
		if len(o.Select.Include)+len(o.Select.Exclude) > 0 {
			want += fmt.Sprintf(", and selected by %s and %s", optname.SelectSpecInclude, optname.SelectSpecExclude)
		}
		return nil, fmt.Errorf("no images in %s (%s): want files named %s; archives, TFRecords, Parquet and Arrow files are named themselves, or by a quoted glob", src.At.Path(), l.besides(), want)
	}
	if err := l.annotate(ctx, o); err != nil {
		return nil, err
	}
	if err := l.stateSplits(ctx, o); err != nil {
		return nil, err
	}
	if archives != nil && len(l.Splits) == 0 && l.above == 0 {
		if err := archives.keepSplits(l); err != nil {
			return nil, err
		}
	}
	if l.Annotations != nil {
		return l, nil
	}
	if l.WebDataset {
		return l, archives.finish(l)
	}
	if o.Labels.File == "" && !o.Labels.None {
		if err := l.labelsFromDirectories(o); err != nil {
			return nil, err
		}
		l.noteSingleClass(o)
	}
	l.noteMasks(o)
	return l, l.number(ctx, o, nil)
}

// RefuseLosses returns an error if something is left out that LabelSpec.Strict refuses to leave out.
func (l *Listing) RefuseLosses(o *options.ImageOptions) error {
	for _, e := range l.Account.Entries() {
		if o.Labels.Strict && e.Reason.Loses() {
			return fmt.Errorf("%s: %v", optname.LabelSpecStrict, e)
		}
	}
	return nil
}

// besides describes the other contents of the source.
func (l *Listing) besides() string {
	entries := l.Account.Entries()
	if len(entries) == 0 {
		return plural.Of(l.Skipped, "other file")
	}
	var says []string
	for _, e := range entries {
		says = append(says, e.String())
	}
	return strings.Join(says, "; ")
}

// listTree lists the images below a directory. It skips the output directory if that is inside.
func (w *walker) listTree(src origin.Place, out string) (*origin.Tree, error) {
	var err error
	if w.out, err = os.Stat(out); err == nil && os.SameFile(src.Directory, w.out) {
		return nil, fmt.Errorf("%s is both source and output: choose another output directory", src.At.Path())
	}
	w.findUsed(src.At)
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
	w.images = w.found.images()
	slices.SortFunc(w.images, func(a, b origin.Image) int { return strings.Compare(a.Path, b.Path) })
	return &origin.Tree{Root: src.At, Directories: w.directories, Follow: w.o.Select.FollowSymlinks}, nil
}

// walker lists a directory tree: on disk, or see walkStore.
type walker struct {
	o           *options.ImageOptions
	ctx         context.Context
	out         fs.FileInfo // the output directory; nil if it does not exist
	images      []origin.Image
	excluded    []string // images that the globs leave out
	directories []string
	stating     []string // files that may state splits
	skipped     int64
	account     account.Account
	left        []leftFile      // with LabelSpec.File: not in the account yet
	others      []otherFile     // to be looked into
	reads       []string        // files that the run reads besides those of its options
	used        []string        // files and directories that are read for other things, "" for all
	visited     map[string]bool // real paths of followed directories
	found       foundImages     // images of a directory tree, until that is listed
}

func (w *walker) walk(dir, below string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := storage.ReadDir(w.ctx, dir)
	if err != nil {
		return fmt.Errorf("list source: %w", err)
	}
	w.directories = append(w.directories, below)
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
			if !w.o.Select.FollowSymlinks {
				w.leaveOut(account.Link, rel)
				continue
			}
			st, err := os.Stat(storage.Join(dir, e.Name())) // the target of the link matters
			if err != nil && !origin.LeadsNowhere(err) {
				return fmt.Errorf("list source: %w", err)
			}
			if err != nil {
				// A dangling link: an unreadable image, if it has an image's name.
				if imagetree.IsImage(e.Name()) && w.wanted(rel) {
					w.found.add(rel, "", 0, 0)
				} else {
					w.leave(otherFile{path: rel})
				}
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
			w.found.add(rel, origin.ChangeVersion(image.change), image.size, image.modTime)
		}
	}
	return nil
}

// hide counts a hidden file, or the files in a hidden directory, at rel below the source. Read errors
// are ignored, since none of it is used.
func (w *walker) hide(root, rel string) error {
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

// leaveHidden counts a hidden file.
func (w *walker) leaveHidden(rel string) {
	if imagetree.IsImage(rel) {
		w.leaveOut(account.Hidden, rel)
	} else {
		w.skipped++
	}
}

// leaveOut counts a file that is not a sample.
func (w *walker) leaveOut(r account.Reason, rel string) {
	w.skipped++
	w.explain(r, rel)
}

// leftFile is a file that is not a sample, unless a row of LabelSpec.File names it.
type leftFile struct {
	path   string
	reason account.Reason
}

// explain adds a file that is counted to the account.
func (w *walker) explain(r account.Reason, rel string) {
	if w.o.Labels.File != "" {
		w.left = append(w.left, leftFile{rel, r})
	} else {
		w.account.Add(r, rel)
	}
}

// isOut reports whether a directory is the output directory.
func (w *walker) isOut(dir string) bool {
	if w.out == nil {
		return false
	}
	st, err := os.Stat(dir)
	return err == nil && os.SameFile(st, w.out)
}

// directory walks a directory, unless it is the output directory or, through links, was already
// visited.
func (w *walker) directory(full, rel string) error {
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

// wanted reports whether the globs select a path. With annotations it notes an image that they do
// not.
func (w *walker) wanted(rel string) bool {
	if w.o.Select.Wants(rel) {
		return true
	}
	if w.o.Annotations.HasObjects() {
		w.excluded = append(w.excluded, rel)
	}
	return false
}

// noteLeft notes which files the walk left alone, where a user may not expect it.
func (l *Listing) noteLeft(o *options.ImageOptions) {
	if n := l.Account.Count(account.Hidden); n > 0 {
		o.Notef("%s left alone: hidden (the name begins with a dot) or in __MACOSX", plural.Of(n, "image"))
	}
	if n := l.Account.Count(account.Link); n > 0 {
		o.Notef("%s not followed (%s follows them)", plural.Of(n, "symbolic link"), optname.SelectSpecFollowSymlinks)
	}
	if n := l.Account.Count(account.Special); n > 0 {
		o.Notef("%s left alone: neither files nor directories", plural.Of(n, "name"))
	}
}
