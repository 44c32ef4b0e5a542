package labeltable

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/stated"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table/imagetable"
	"github.com/tfrec/tfrec/manifest"
)

// Table is a table of labels that was read.
type Table struct {
	stated.Labels
	Splits   stated.SplitColumns
	Features []manifest.Feature
	Causes   []string // why rows name no image
	File     string   // its name
	Text     bool     // it is a CSV or a list

	o        *options.ImageOptions
	paths    *rowPaths
	features stated.Features
	lines    map[string]int64    // line where a path was first named
	noSplits map[string][]string // cells of the split columns that name none, by path
	first    int64               // line of the first row if it may be a header; 0 if not
	named    int                 // images that a row names
	left     int64               // rows that the globs leave out

	// perhapsHeader is set if the first row, which was not taken for a header, names no image.
	perhapsHeader bool
}

// Missing returns the ledger entry of an image whose label is a missing value.
func (t *Table) Missing(p *origin.Image) *setdir.BadSample {
	return t.bad(p.Path, t.lines[p.Path], "read", fmt.Sprintf("%s has the label %q, a missing value: all others are integers", jsontext.Readable(p.Path), *p.Label))
}

// IDs returns the ids of the labels of a row, which are numbers in Names; ids has the ids of labels
// that are not missing.
func (t *Table) IDs(row []int32, ids map[string]int32) []int32 {
	kept := row[:0]
	for _, i := range row {
		if id, ok := ids[t.Names[i]]; ok {
			kept = append(kept, id)
		}
	}
	return kept
}

// RejectUnsplit makes bad samples of the images whose cells in the split columns name no split.
func (t *Table) RejectUnsplit(images []origin.Image) {
	for i := range images {
		p := &images[i]
		if cells, ok := t.noSplits[p.Path]; ok && p.Bad() == nil {
			p.AddExtra().Bad = t.bad(p.Path, t.lines[p.Path], "read", t.Splits.Fault(cells))
		}
	}
}

func newTable(o *options.ImageOptions, opened *imagetable.Table, paths *rowPaths) *Table {
	t := &Table{
		o: o, File: storage.Base(o.Labels.File), Text: opened.Text(), paths: paths,
		lines: map[string]int64{}, features: stated.NewFeatures(opened.Features()),
		Splits: stated.SplitColumns{Names: opened.Splits()}, noSplits: map[string][]string{},
	}
	t.Features = t.features.Described
	if opened.Header() == imagetable.NoHeader {
		t.first = -1 // not read yet
	}
	return t
}

// imageFile makes a sample from a row. Problems with the row are in its bad. Its path is in lines
// if the row is the first that names it.
func (t *Table) imageFile(row *imagetable.Row) origin.Image {
	p := origin.Image{Path: fmt.Sprintf("%s:%d", t.File, row.Line)} // the key of a row without a path
	bad := func(stage, format string, args ...any) origin.Image {
		p.AddExtra().Bad = t.bad(p.Path, row.Line, stage, fmt.Sprintf(format, args...))
		return p
	}
	name := row.Path
	switch {
	case row.Err != nil && name == "":
		return bad("parse", "%v", row.Err)
	case name == "":
		return bad("read", "the path is empty")
	}
	clean := t.paths.take(name, row.Line)
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		t.paths.lose(name, row.Line)
		p.Path = name
		return bad("read", "the path leads outside the source directory")
	}
	if before, ok := t.lines[clean]; ok {
		return bad("read", "%s is named twice, first on line %d", jsontext.Readable(clean), before)
	}
	p.Path = clean
	t.lines[clean] = row.Line
	switch {
	case row.Err != nil:
		return bad("parse", "%v", row.Err)
	case t.o.Labels.Several() || t.o.Labels.None:
	case row.Labels[0] == "":
		return bad("read", "%s has an empty label", jsontext.Readable(name))
	default:
		p.Label = t.Shared(row.Labels[0])
	}
	if len(t.Splits.Names) > 0 {
		if p.Split = t.Splits.Of(p.Path, row.Splits); p.Split == nil {
			t.noSplits[p.Path] = row.Splits
		}
	}
	if t.o.Labels.Several() || t.features.Any() {
		p.AddExtra().Row = t.imageRow(row)
	}
	return p
}

// imageRow keeps the labels and features of a row.
func (t *Table) imageRow(row *imagetable.Row) *origin.Row {
	r := &origin.Row{}
	if t.o.Labels.Several() {
		r.Labels = make([]int32, len(row.Labels))
		for i, label := range row.Labels {
			r.Labels[i] = t.Number(label)
		}
	}
	if t.features.Any() {
		r.Features = t.features.Encode(row.Value)
	}
	return r
}

// bad returns the ledger entry for a row.
func (t *Table) bad(key string, line int64, stage, reason string) *setdir.BadSample {
	return &setdir.BadSample{Key: jsontext.Readable(key), Source: t.File, Line: line, Stage: stage, Reason: reason}
}

// find looks for an image missing from the listing. An error means that its existence is unknown.
func (t *Table) find(ctx context.Context, p *origin.Image, row *imagetable.Row) error {
	found, reason, err := t.paths.origin.Find(ctx, p.Path)
	switch {
	case err != nil:
		return err
	case reason != "":
		p.AddExtra().Bad = t.bad(p.Path, row.Line, "read", reason)
	case found == nil:
		p.AddExtra().Bad = t.bad(p.Path, row.Line, "read", "no such file in the source: "+jsontext.Readable(p.Path))
		t.perhapsHeader = t.perhapsHeader || row.Line == t.first
		t.paths.lose(row.Path, row.Line)
	default:
		foundAs(p, found)
	}
	return nil
}

// foundAs copies the size and version of an image that the origin has found.
func foundAs(p, found *origin.Image) {
	p.Size, p.ModTime, p.Version, p.Item = found.Size, found.ModTime, found.Version, found.Item
	if bad := found.Bad(); bad != nil && p.Bad() == nil {
		p.AddExtra().Bad = bad
	}
}

// unnamed returns the first of the listed images that no row names.
func (t *Table) unnamed(images []origin.Image) string {
	for i := range images {
		if t.lines[images[i].Path] == 0 {
			return jsontext.Readable(images[i].Path)
		}
	}
	return ""
}
