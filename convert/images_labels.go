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
	"syscall"

	"github.com/tfrec/tfrec/internal/imagetable"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
)

// LabelSpec says where the labels of images come from.
type LabelSpec struct {
	// File is a table with the path of an image, relative to the source, and its label in each row:
	// CSV with any usual delimiter, or a list with spaces, plain or compressed with gzip or zstd.
	// Default: the label is the name of the first directory. Label ids are the indexes of the
	// sorted names; names that are all integers sort as numbers, so that 0 to N-1 map to
	// themselves.
	File string
	// PathColumn and Column name the columns of File's header with paths and labels,
	// case-insensitively. Default: path, file, filename, file_name, image, image_path or id; and
	// label, class, target, category or tags. Without a header they are the first two columns.
	PathColumn, Column string
	// PathSuffix is appended to paths in File that do not end in it, such as ".jpg" to ids.
	// Default: none.
	PathSuffix string
	// None stores no labels.
	None bool
	// Offset is the number of background names to put before the labels.
	Offset int
}

// check returns an error for invalid fields.
func (l *LabelSpec) check() error {
	switch {
	case l.None && l.Offset != 0:
		return optionError("LabelSpec.Offset", "cannot be combined with LabelSpec.None")
	case l.File != "" && l.None:
		return optionError("LabelSpec.File", "cannot be combined with LabelSpec.None")
	case l.File == "" && l.PathColumn != "":
		return optionError("LabelSpec.PathColumn", "is for LabelSpec.File")
	case l.File == "" && l.Column != "":
		return optionError("LabelSpec.Column", "is for LabelSpec.File")
	case l.File == "" && l.PathSuffix != "":
		return optionError("LabelSpec.PathSuffix", "is for LabelSpec.File")
	case strings.Contains(l.PathSuffix, "/"):
		return optionError("LabelSpec.PathSuffix", "%q: want a file name suffix, such as .jpg", l.PathSuffix)
	case l.Offset < 0 || l.Offset > 1<<20:
		return optionError("LabelSpec.Offset", "%d is not between 0 and %d", l.Offset, 1<<20)
	}
	return nil
}

// mode returns where labels come from, as manifests record it.
func (l *LabelSpec) mode() string {
	switch {
	case l.None:
		return "none"
	case l.File != "":
		return "file"
	}
	return "folders"
}

// labelsFromFile replaces the listing by the images named in the rows of a table. Rows without a
// usable image become bad samples. Images that no row names count as skipped files.
func (l *listing) labelsFromFile(ctx context.Context, o *ImageOptions) error {
	found := make(map[string]int, len(l.images))
	for i, p := range l.images {
		found[p.path] = i
	}
	table, err := imagetable.Open(ctx, o.Labels.File, imagetable.Options{
		PathColumn: o.Labels.PathColumn, LabelColumn: o.Labels.Column, Suffix: o.Labels.PathSuffix,
		IsImage: func(name string) bool { _, ok := found[path.Clean(name)]; return ok },
	})
	if err != nil {
		return fmt.Errorf("LabelSpec.File: %w", err)
	}
	o.noteColumns(table)
	t := labelTable{
		src: l.root, follow: o.Select.FollowSymlinks || l.root.Remote(), file: storage.Base(o.Labels.File), lines: map[string]int64{},
		found: found, suffix: o.Labels.PathSuffix,
		reword: o.reword,
	}
	if names, _, _ := table.Columns(); names == "" {
		t.first = -1 // not read yet
	}
	w := &walker{o: o}
	var images []imageFile
	named, left := 0, int64(0)
	for row, err := range table.Rows(ctx) {
		if err != nil {
			return fmt.Errorf("LabelSpec.File: %w", err)
		}
		if t.first < 0 {
			t.first = row.Line
		}
		p := t.imageFile(row)
		if p.bad == nil && !w.wanted(p.path) {
			left++
			continue
		}
		if p.bad == nil {
			if i, ok := found[p.path]; ok {
				p.size, p.modTime, p.version = l.images[i].size, l.images[i].modTime, l.images[i].version
				named++
			} else if err := t.find(ctx, &p, row.Line); err != nil {
				return fmt.Errorf("LabelSpec.File %s: line %d: %w", o.Labels.File, row.Line, err)
			} else if p.bad == nil {
				l.skipped-- // the walk counted it as another file
			}
		}
		images = append(images, p)
	}
	if left > 0 {
		o.note("%s of %s left out by SelectSpec.Include and SelectSpec.Exclude", plural.Of(left, "row"), o.Labels.File)
	}
	if len(images) == 0 {
		return fmt.Errorf("LabelSpec.File %s: no rows to use: want a path and a label in each", o.Labels.File)
	}
	if n := int64(len(l.images) - named); n > 0 {
		l.skipped += n
		o.note("%s not named in %s left alone", plural.Of(n, "image"), o.Labels.File)
	}
	slices.SortStableFunc(images, func(a, b imageFile) int { return strings.Compare(a.path, b.path) })
	l.images = images
	return nil
}

// noteColumns notes which columns of a table are used, if their names are not path and label, and
// which are ignored.
func (o *ImageOptions) noteColumns(t *imagetable.Table) {
	paths, labels, ignored := t.Columns()
	var says []string
	if n := t.Comments(); n > 0 {
		says = append(says, plural.Of(n, "comment line")+" before the first row skipped")
	}
	if paths != "" && (o.Labels.PathColumn == "" && paths != "path" || o.Labels.Column == "" && labels != "label") {
		says = append(says, fmt.Sprintf("paths are in column %q, labels in %q", paths, labels))
	}
	if len(ignored) > 0 {
		says = append(says, "ignored: "+imagetable.Quote(ignored))
	}
	if len(says) > 0 {
		o.note("%s: %s", o.Labels.File, strings.Join(says, "; "))
	}
}

// labelTable makes samples from the rows of a label file.
type labelTable struct {
	src    storage.Location
	file   string
	suffix string
	follow bool             // symbolic links
	found  map[string]int   // images in the listing
	lines  map[string]int64 // line where a path was first named
	first  int64            // line of the first row if it may be a header; 0 if not
	reword func(reason string) string
}

// imageFile makes a sample from a row. Problems with the row are in its bad.
func (t *labelTable) imageFile(row imagetable.Row) imageFile {
	p := imageFile{path: fmt.Sprintf("%s:%d", t.file, row.Line)} // the key of a row without a path
	bad := func(format string, args ...any) imageFile {
		p.bad = t.bad(p.path, row.Line, fmt.Sprintf(format, args...))
		return p
	}
	if row.Err != nil {
		return bad("%v", row.Err)
	}
	p.label = row.Label
	name := row.Path
	if name == "" {
		return bad("the path is empty")
	}
	if p.label == "" {
		return bad("%s has an empty label", jsontext.Readable(name))
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		p.path = name
		return bad("the path leads outside the source directory")
	}
	p.path = path.Clean(name)
	if before, ok := t.lines[p.path]; ok {
		p.path = fmt.Sprintf("%s:%d", t.file, row.Line)
		return bad("%s is named twice, first on line %d", jsontext.Readable(name), before)
	}
	t.lines[p.path] = row.Line
	return p
}

// bad returns the ledger entry for a row.
func (t *labelTable) bad(key string, line int64, reason string) *setdir.BadSample {
	return &setdir.BadSample{Key: jsontext.Readable(key), Source: t.file, Line: line, Stage: "read", Reason: t.reword(reason)}
}

// find looks for an image missing from the listing: one without an image extension is accepted,
// since the row names it. An error means that its existence is unknown.
func (t *labelTable) find(ctx context.Context, p *imageFile, line int64) error {
	st, err := t.src.Join(p.path).Stat(ctx)
	reason := ""
	switch {
	case err == nil && !t.follow && t.linked(p.path):
		reason = "reached by a symbolic link (SelectSpec.FollowSymlinks follows it): " + jsontext.Readable(p.path)
	case err != nil && !missing(err):
		return err
	case err != nil:
		reason = "no such file in the source directory: " + jsontext.Readable(p.path) + t.hint(p.path, line)
	case !st.Mode().IsRegular():
		reason = "not a file: " + jsontext.Readable(p.path)
	default:
		p.size, p.modTime = st.Size(), st.ModTime().UnixNano()
		if o, remote := st.Sys().(storage.Object); remote {
			p.version = o.Version
		}
		return nil
	}
	p.bad = t.bad(p.path, line, reason)
	return nil
}

// missing reports whether an error means that there is no such file, or that no file can have this
// name.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EINVAL)
}

// hint suggests what a path without an image may mean; often nothing.
func (t *labelTable) hint(name string, line int64) string {
	for _, ext := range imageExtensions {
		for _, suffix := range []string{ext, strings.ToUpper(ext)} {
			if _, ok := t.found[name+suffix]; ok && t.suffix == "" {
				return fmt.Sprintf(" (%s exists: give LabelSpec.PathSuffix %s)", jsontext.Readable(name+suffix), suffix)
			}
		}
	}
	if line == t.first {
		return " (if this row is the header, LabelSpec.PathColumn and LabelSpec.Column name its columns)"
	}
	return ""
}

// linked reports whether a path below the source passes through a symbolic link.
func (t *labelTable) linked(rel string) bool {
	for dir := rel; dir != "."; dir = path.Dir(dir) {
		st, err := os.Lstat(t.src.Join(dir).Path())
		if err != nil || st.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
