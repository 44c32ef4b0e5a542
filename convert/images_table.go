package convert

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/imagetable"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/table"
)

// maxBadRows is how many rows of a table may be unusable: each is held in memory.
const maxBadRows = 1 << 20

// imagesFromTable replaces the listing by the images named in the rows of a table. Rows without a
// usable image become bad samples. Images that no row names count as skipped files.
func (l *listing) imagesFromTable(ctx context.Context, o *ImageOptions) error {
	found := make(map[string]int, len(l.images))
	for i, p := range l.images {
		found[p.path] = i
	}
	opened, err := o.openTable(ctx, func(name string) bool { _, ok := found[path.Clean(name)]; return ok })
	if err != nil {
		return fmt.Errorf("LabelSpec.File: %w", err)
	}
	defer opened.Close()
	t := newImageTable(o, l, opened, found)
	w := &walker{o: o}
	var images []imageFile
	named, left, bad := 0, int64(0), 0
	for row, err := range opened.Rows(ctx) {
		if err != nil {
			return fmt.Errorf("LabelSpec.File: %w", err)
		}
		if t.first < 0 {
			t.first = row.Line
		}
		p := t.imageFile(&row)
		if (p.bad() == nil || t.lines[p.path] > 0) && !w.wanted(p.path) {
			left++
			continue
		}
		if i, ok := found[p.path]; ok && t.lines[p.path] == row.Line {
			p.foundAs(&l.images[i])
			named++
		} else if p.bad() == nil {
			if err := t.find(ctx, &p, row.Line); err != nil {
				return fmt.Errorf("LabelSpec.File %s: line %d: %w", o.Labels.File, row.Line, err)
			} else if p.bad() == nil {
				l.skipped-- // the walk counted it as another file
			}
		}
		if p.bad() != nil {
			if bad++; bad > maxBadRows {
				return fmt.Errorf("LabelSpec.File %s: line %d: more than %d rows cannot be used, the last because: %s; is it the table of these images?", o.Labels.File, row.Line, maxBadRows, p.bad().Reason)
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
		if o.Labels.Strict {
			return fmt.Errorf("LabelSpec.Strict: %s not named in %s, such as %s", plural.Of(n, "image"), o.Labels.File, t.unnamed(l.images))
		}
		l.skipped += n
		o.note("%s not named in %s left alone", plural.Of(n, "image"), o.Labels.File)
	}
	slices.SortStableFunc(images, func(a, b imageFile) int { return strings.Compare(a.path, b.path) })
	l.images, l.labels, l.features, l.rows = images, t.names, t.features.described, t
	return nil
}

// openTable opens the table of labels and features; isImage reports whether a path is listed.
func (o *ImageOptions) openTable(ctx context.Context, isImage func(path string) bool) (*imagetable.Table, error) {
	to := imagetable.Options{
		PathColumn: o.Labels.PathColumn, LabelColumn: o.Labels.Column, NoLabels: o.Labels.None,
		Separator: o.Labels.Separator, Suffix: o.Labels.PathSuffix, IsImage: isImage,
		OpenTyped: openTyped, Workers: o.workers(),
	}
	for _, f := range o.Features {
		to.Features = append(to.Features, imagetable.Feature{Name: f.Name, Kind: kindOfType[f.Type]})
	}
	t, err := imagetable.Open(ctx, o.Labels.File, to)
	if err == nil {
		o.noteColumns(t)
	}
	return t, err
}

// openTyped opens a table in a format with types; nil for CSV and lists.
func openTyped(ctx context.Context, path string) (table.Source, error) {
	format, err := detectFormat(ctx, path)
	if err != nil || openers[format] == nil {
		return nil, err
	}
	return openers[format](ctx, path, &TableOptions{})
}

// noteColumns notes which columns of a table are used, if their names are not path and label, and
// which are ignored.
func (o *ImageOptions) noteColumns(t *imagetable.Table) {
	paths, labels, ignored := t.Columns()
	var says []string
	if n := t.Comments(); n > 0 {
		says = append(says, plural.Of(n, "comment line")+" before the first row skipped")
	}
	switch {
	case paths == "":
	case o.Labels.None && o.Labels.PathColumn == "" && paths != "path":
		says = append(says, fmt.Sprintf("paths are in column %q", paths))
	case !o.Labels.None && (o.Labels.PathColumn == "" && paths != "path" || o.Labels.Column == "" && labels != "label"):
		says = append(says, fmt.Sprintf("paths are in column %q, labels in %q", paths, labels))
	}
	if len(ignored) > 0 {
		says = append(says, "ignored: "+imagetable.Quote(ignored))
	}
	if says = append(says, t.Notes()...); len(says) > 0 {
		o.note("%s: %s", o.Labels.File, strings.Join(says, "; "))
	}
}
