package labeltable

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/convert/internal/tables"
	"github.com/tfrec/tfrec/convert/internal/walk"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/imagetable"
)

// Read replaces found images by those that the rows of LabelSpec.File name, sorted by path. Rows
// without a usable image become bad samples. Images that no row names count as skipped files.
func Read(ctx context.Context, o *options.ImageOptions, found *walk.Found) (*Table, error) {
	paths := newRowPaths(found.Origin, found.Images)
	opened, err := open(ctx, o, paths)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", optname.LabelSpecFile, err)
	}
	defer opened.Close()
	t := newTable(o, opened, paths)
	_, _, ignored := opened.Columns()
	for _, column := range ignored {
		found.Account.Add(account.Column, column)
	}
	found.Account.Merge(opened.Account())
	images, err := t.readRows(ctx, opened, found)
	if err != nil {
		return nil, err
	}
	t.noteCauses()
	for _, how := range paths.notes() {
		o.Notef("%s: %s", o.Labels.File, how)
	}
	if label := opened.Spaced(); label != "" {
		o.Notef("%s: spaces around labels do not count, as in %q", o.Labels.File, label)
	}
	if t.left > 0 {
		o.Notef("%s of %s left out by %s and %s", plural.Of(t.left, "row"), o.Labels.File, optname.SelectSpecInclude, optname.SelectSpecExclude)
	}
	if len(images) == 0 {
		return nil, fmt.Errorf("%s %s: no rows to use: want a path and a label in each", optname.LabelSpecFile, o.Labels.File)
	}
	if err := t.accountForUnnamed(found); err != nil {
		return nil, err
	}
	slices.SortStableFunc(images, func(a, b origin.Image) int { return strings.Compare(a.Path, b.Path) })
	found.Left = slices.DeleteFunc(found.Left, func(f walk.LeftFile) bool {
		i, named := slices.BinarySearchFunc(images, f.Path, func(p origin.Image, name string) int { return strings.Compare(p.Path, name) })
		return named && images[i].Bad() == nil
	})
	found.Images = images
	return t, nil
}

// readRows returns the images of the rows.
func (t *Table) readRows(ctx context.Context, opened *imagetable.Table, found *walk.Found) (images []origin.Image, err error) {
	bad := 0
	for row, err := range opened.Rows(ctx) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", optname.LabelSpecFile, err)
		}
		if t.first < 0 {
			t.first = row.Line
		}
		p := t.imageFile(&row)
		if (p.Bad() == nil || t.lines[p.Path] > 0) && !t.o.Select.Wants(p.Path) {
			t.left++
			continue
		}
		if i, ok := t.paths.found[p.Path]; ok && t.lines[p.Path] == row.Line {
			foundAs(&p, &found.Images[i])
			t.named++
		} else if p.Bad() == nil {
			if err := t.find(ctx, &p, &row); err != nil {
				return nil, fmt.Errorf("%s %s: line %d: %w", optname.LabelSpecFile, t.o.Labels.File, row.Line, err)
			} else if p.Bad() == nil {
				found.Skipped-- // the walk counted it as another file
			}
		}
		if p.Bad() != nil {
			if bad++; bad > imagetable.MaxBadRows {
				why := append(t.paths.causes(t.File), "is it the table of these images?")
				return nil, fmt.Errorf("%s %s: line %d: more than %d rows cannot be used, the last because: %s; %s", optname.LabelSpecFile, t.o.Labels.File, row.Line, imagetable.MaxBadRows, p.Bad().Reason, why[0])
			}
		}
		images = append(images, p)
	}
	return images, nil
}

// noteCauses notes why rows name no image.
func (t *Table) noteCauses() {
	t.Causes = t.paths.causes(t.File)
	if t.perhapsHeader {
		t.Causes = append(t.Causes, fmt.Sprintf("%s: line %d names no image: if it is the header, %s and %s name its columns",
			t.File, t.first, optname.LabelSpecPathColumn, optname.LabelSpecColumn))
	}
	for _, cause := range t.Causes {
		t.o.Notef("%s", cause)
	}
}

// accountForUnnamed counts the found images that no row names as skipped files. With LabelSpec.Strict
// one is an error.
func (t *Table) accountForUnnamed(found *walk.Found) error {
	n := int64(len(found.Images) - t.named)
	if n == 0 {
		return nil
	}
	if t.o.Labels.Strict {
		return fmt.Errorf("%s: %s not named in %s, such as %s", optname.LabelSpecStrict, plural.Of(n, "image"), t.o.Labels.File, t.unnamed(found.Images))
	}
	found.Skipped += n
	for i := range found.Images {
		if t.lines[found.Images[i].Path] == 0 {
			found.Account.Add(account.Unnamed, found.Images[i].Path)
		}
	}
	t.o.Notef("%s not named in %s skipped", plural.Of(n, "image"), t.o.Labels.File)
	return nil
}

// open opens LabelSpec.File.
func open(ctx context.Context, o *options.ImageOptions, paths *rowPaths) (*imagetable.Table, error) {
	to := imagetable.Options{
		PathColumn: o.Labels.PathColumn, LabelColumn: o.Labels.Column, NoLabels: o.Labels.None,
		SplitColumn: o.Labels.SplitColumn, NoSplits: len(o.Splits) > 0,
		Separator: o.Labels.Separator, Suffix: o.Labels.PathSuffix, IsImage: paths.has, LikeImage: paths.like,
		OpenTyped: openTyped, Workers: o.Goroutines(),
	}
	for _, f := range o.Features {
		to.Features = append(to.Features, imagetable.Feature{Name: f.Name, Kind: tables.KindOf(f.Type)})
	}
	t, err := imagetable.Open(ctx, o.Labels.File, to)
	if err == nil {
		noteColumns(o, t)
	}
	return t, err
}

// openTyped opens a table in a format with types; nil for CSV and lists.
func openTyped(ctx context.Context, path string) (table.Source, error) {
	format, err := tablefile.Detect(ctx, path)
	if err != nil || tablefile.Openers[format] == nil {
		return nil, err
	}
	return tablefile.Openers[format](ctx, path, tablefile.TextOptions{})
}

// noteColumns notes which columns of a table are used, if their names are not path and label, and
// which are ignored.
func noteColumns(o *options.ImageOptions, t *imagetable.Table) {
	paths, labels, ignored := t.Columns()
	var says []string
	if n := t.Comments(); n > 0 {
		says = append(says, plural.Of(n, "comment line")+" before the first row skipped")
	}
	where := fmt.Sprintf("paths are in column %q", paths)
	if labels != "" {
		where += fmt.Sprintf(", labels in %q", labels)
	}
	given := (paths == "path" || o.Labels.PathColumn != "") && (labels == "label" || labels == "" || o.Labels.Column != "")
	switch header := t.Header(); {
	case header == imagetable.FoundHeader:
		says = append(says, "the first row is taken as its header: "+where)
	case header == imagetable.NoHeader && labels == "":
		says = append(says, "taken as a table without a header: paths are in "+paths)
	case header == imagetable.NoHeader:
		says = append(says, fmt.Sprintf("taken as a table without a header: paths are in %s, labels in %s", paths, labels))
	case !given:
		says = append(says, where)
	}
	if len(ignored) > 0 {
		says = append(says, "ignored: "+imagetable.Quote(ignored))
	}
	if says = append(says, t.Notes()...); len(says) > 0 {
		o.Notef("%s: %s", o.Labels.File, strings.Join(says, "; "))
	}
}
