package listing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tables"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/classfile"
	"github.com/tfrec/tfrec/internal/imagetable"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/internal/table"
)

const (
	// maxRowText bounds what the listing keeps of all rows in bytes: paths, labels and features.
	maxRowText = 1 << 30
	// FewRows is how many rows a file may have that has fewer bytes than rows: what is kept of a
	// row is bounded by the size of the file.
	FewRows = 1 << 20
)

// Columns are the columns of a table of images by name: "" for those that are not used.
type Columns struct {
	Key                string // as it is given: that of the image, or of the struct with it
	image, path, Label string
	split              string
}

// rowWalker lists the images in the rows of tables, with the rules and counts of a walker.
type rowWalker struct {
	*walker
	origin   *origin.Rows
	use      Columns
	columns  []table.Column // to read: the image, the path, the label if they are used, the features
	features columnEncoder
	labels   labelNumbers
	split    splitColumn
	unused   []string // columns of the first file
	classes  []string // names of the labels that are ids; nil if the files have none
	bad      int
	text     int64 // bytes kept of the rows
}

// listRows lists the images of Parquet and Arrow files.
func (w *walker) listRows(src origin.Place) (*rowWalker, error) {
	switch o := w.o; {
	case o.Select.FollowSymlinks:
		return nil, plan.OptionErrorf(optname.SelectSpecFollowSymlinks, "is for directories of images")
	case o.Labels.File != "":
		return nil, plan.OptionErrorf(optname.LabelSpecFile, "is for images that are files or in records: the labels and features of images in a table are other columns of it")
	}
	a := &rowWalker{walker: w, origin: &origin.Rows{Src: src.At}}
	paths := make([]string, len(src.Tables))
	for i, at := range src.Tables {
		paths[i] = at.Path()
	}
	names := namesOf(paths)
	for i, at := range src.Tables {
		if err := a.open(at, names[i]); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
	}
	if len(a.origin.Hashes) == 0 {
		return nil, fmt.Errorf("no rows in %s", src.At.Path())
	}
	a.origin.Column = a.columns[0]
	a.features = newColumnEncoder(a.columns[len(a.columns)-len(w.o.Features):])
	for i := range a.origin.Tables {
		if err := a.list(&a.origin.Tables[i]); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
	}
	return a, a.nameNumbered(a.origin)
}

// open adds a file to those of the origin, and its columns to those of the files before it.
func (a *rowWalker) open(at storage.Location, name string) error {
	format, err := tables.DetectFormat(a.ctx, at.Path())
	if err != nil {
		return err
	}
	if format != tables.TableParquet && format != tables.TableArrow {
		return fmt.Errorf("%s: neither Parquet nor Arrow, as %s is", at.Path(), a.origin.Src.Path())
	}
	src, err := tables.Openers[format](a.ctx, at.Path(), &tables.TableOptions{})
	if err != nil {
		return err
	}
	o := table.ScanOptions{Workers: a.o.Goroutines(), Kinds: map[string]table.Kind{}, Wanted: a.wants}
	for _, f := range a.o.Features {
		o.Kinds[f.Name] = tables.KindOfType[f.Type]
	}
	t, err := src.Scan(a.ctx, o)
	if err != nil {
		return err
	}
	if t.Rows > max(FewRows, src.Size()) || t.Rows > 1<<31-1-int64(len(a.origin.Hashes)) {
		return fmt.Errorf("%s: %d rows in %d bytes are too many for images", at.Path(), t.Rows, src.Size())
	}
	if err := a.addColumns(t.Columns); err != nil {
		return fmt.Errorf("%s: %w", at.Path(), err)
	}
	if names := t.Classes[a.use.Label]; names != nil && a.o.Labels.Classes == "" {
		if a.classes != nil && !slices.Equal(names, a.classes) {
			return fmt.Errorf("%s: the classes of %q are others than in the files before: convert them one by one, or give %s", at.Path(), a.use.Label, optname.LabelSpecClasses)
		}
		a.classes = names
	}
	a.origin.Tables = append(a.origin.Tables, origin.RowFile{Source: src, As: name, Chunks: t.Chunks, First: len(a.origin.Hashes)})
	a.origin.Hashes = append(a.origin.Hashes, make([][16]byte, t.Rows)...)
	return nil
}

// wants reports whether a column may be one that is kept for all rows, or has images: the sizes of
// its values decide how many rows are read at a time.
func (a *rowWalker) wants(name string) bool {
	switch key := a.o.ImageKey; {
	case slices.ContainsFunc(a.o.Features, func(f options.FeatureSpec) bool { return f.Name == name }):
		return true
	case key != "":
		return name == key || name == key+bytesMember
	}
	return strings.HasSuffix(name, bytesMember)
}

// list lists the rows of a file.
func (a *rowWalker) list(in *origin.RowFile) error {
	var b table.Batch
	for _, c := range in.Chunks {
		if err := in.Read(a.ctx, c, a.columns, &b); err != nil {
			return err
		}
		bad := b.Bad
		for row := range b.Rows {
			p := origin.Image{Item: int32(in.First + int(c.FirstRow) + row)}
			reason := ""
			if len(bad) > 0 && bad[0].Row == row {
				reason, bad = bad[0].Reason, bad[1:]
			}
			a.row(&p, &b, row, reason)
			if p.Bad() != nil {
				if a.bad++; a.bad > maxBadRows {
					return fmt.Errorf("%s: row %d: more than %d rows cannot be used, the last because: %s", in.Name(), c.FirstRow+int64(row), maxBadRows, p.Bad().Reason)
				}
			}
			if a.text > maxRowText {
				return fmt.Errorf("%s: row %d: more than %d bytes of paths, labels and %s: name fewer, or convert fewer files at a time", in.Name(), c.FirstRow+int64(row), maxRowText, optname.ImageOptionsFeatures)
			}
			a.images = append(a.images, p)
		}
	}
	return nil
}

// row makes a sample of a row, which cannot be used if there is a reason.
func (a *rowWalker) row(p *origin.Image, b *table.Batch, row int, reason string) {
	stage, columns := "parse", b.Columns
	unusable := func(format string, args ...any) {
		if reason == "" {
			stage, reason = "read", fmt.Sprintf(format, args...)
		}
	}
	image, ok := origin.CellBytes(&columns[0], row)
	p.Size = int64(len(image))
	a.origin.Hashes[p.Item] = xxh3.Hash128(image).Bytes()
	next := 1
	if a.use.path != "" {
		if path, ok := origin.CellBytes(&columns[next], row); ok && len(path) <= maxFilename {
			p.Path = string(path)
		}
		next++
	}
	switch {
	case !ok && p.Path != "":
		unusable("the row has the path of an image and not its bytes: %q is null", a.use.image)
	case !ok:
		unusable("the row has no image: %q is null", a.use.image)
	case len(image) == 0:
		unusable("the image in %q has 0 bytes", a.use.image)
	case len(image) > origin.MaxStored:
		unusable("%v", origin.ErrSize)
	}
	if a.use.Label != "" {
		if why := a.label(p, &columns[next], row); why != "" {
			unusable("%s", why)
		}
		next++
	}
	if a.use.split != "" {
		v := &columns[next]
		if first, _, ok := imagetable.Cell(v, row); ok {
			p.Split = a.split.of(strings.TrimSpace(v.Text(first)))
		}
		next++
	}
	if reason != "" {
		p.Size = 0
		p.AddExtra().Bad = &setdir.BadSample{Source: a.origin.Source(p), Stage: stage, Reason: reason}
	} else if len(a.features.columns) > 0 {
		p.AddExtra().Row = &origin.Row{Features: a.features.encode(func(i int) (*table.Values, int, int, bool) {
			v := &columns[next+i]
			first, end, ok := imagetable.Cell(v, row)
			return v, first, end, ok
		})}
		a.text += int64(len(p.Row().Features))
	}
	a.text += int64(len(p.Path))
}

// label reads the label of a row: an id, or a name. It returns why there is none.
func (a *rowWalker) label(p *origin.Image, v *table.Values, row int) (reason string) {
	first, _, ok := imagetable.Cell(v, row)
	var text string
	switch {
	case !ok:
		return fmt.Sprintf("%q is empty, so the image has no label", a.use.Label)
	case v.Kind == table.Bytes:
		text = string(v.Byte(first))
	case v.Kind == table.Int64:
		text = strconv.FormatInt(v.Ints[first], 10)
	case v.Floats[first] != v.Floats[first]: // NaN, as pandas has it for a missing value
		return fmt.Sprintf("%q is NaN, so the image has no label", a.use.Label)
	default:
		id, err := table.Integer(v.Floats[first])
		if err != nil {
			return fmt.Sprintf("%q is not a label: %v", a.use.Label, err)
		}
		text = strconv.FormatInt(id, 10)
	}
	before := len(a.labels.names)
	if p.Label = a.labels.label(text); len(a.labels.names) > before {
		a.text += int64(len(text))
	}
	return ""
}

// splitsOfRows compares the splits of rows with those that the names of files state. A row without one
// is a bad sample.
func (a *rowWalker) splitsOfRows(l *Listing, paths []string, fileOf func(p *origin.Image) int) error {
	stated, _ := splitsOfFiles(paths)
	for i := range l.Images {
		p := &l.Images[i]
		switch {
		case p.Split == nil:
			if p.Bad() == nil {
				p.AddExtra().Bad = &setdir.BadSample{Key: jsontext.Readable(p.Path), Source: a.origin.Source(p), Stage: "read", Reason: fmt.Sprintf("column %q: the row names no split", a.split.name)}
			}
			p.Split = a.split.splits[l.Splits[0]]
		case stated != nil && stated[fileOf(p)] != *p.Split:
			return fmt.Errorf("%s is in the split %s by %s, and in %s by the name of its file: make them agree, or give %s, which replaces both",
				jsontext.Readable(p.Path), *p.Split, l.stated, stated[fileOf(p)], optname.OptionsSplits)
		}
	}
	return nil
}

// finish adds the splits, labels and features of rows to the listing.
func (a *rowWalker) finish(l *Listing) error {
	if len(l.Images) == 0 {
		return fmt.Errorf("no rows in %s are selected", a.origin.Src.Path())
	}
	for _, name := range a.unused {
		l.Account.Add(account.Column, name)
	}
	if len(a.unused) > 0 {
		a.o.Notef("columns that are not stored: %s (%s stores some)", plural.Quoted(a.unused, 5), optname.ImageOptionsFeatures)
	}
	used, err := a.split.state(a.o, l, a.origin.Src.Path())
	if err != nil {
		return err
	}
	var paths []string
	for i := range a.origin.Tables {
		paths = append(paths, a.origin.Tables[i].Name())
	}
	fileOf := func(p *origin.Image) int {
		file, _ := a.origin.Of(p)
		return file
	}
	if used {
		err = a.splitsOfRows(l, paths, fileOf)
	} else {
		err = l.splitsFromFiles(a.o, paths, fileOf)
	}
	if err != nil {
		return err
	}
	l.Columns, l.Features = a.use, a.features.described
	l.Labels = a.labels.names
	var stated *classfile.List
	if a.classes != nil {
		stated = classfile.Of(a.classes, fmt.Sprintf("the column %q", a.use.Label))
	}
	return l.number(a.ctx, a.o, stated)
}
