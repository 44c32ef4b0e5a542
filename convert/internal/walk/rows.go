package walk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/stated"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/convert/internal/tables"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/imagetable"
	"github.com/tfrec/tfrec/manifest"
)

const (
	// maxRowText bounds the bytes that are kept of all rows: paths, labels and features.
	maxRowText = 1 << 30
	// FewRows is the number of rows that a file of any size may have. A file with more rows needs a
	// byte for each, so that its size bounds the memory for rows.
	FewRows = 1 << 20
)

// Columns are the columns of a table of images by name: "" for those that are not used.
type Columns struct {
	Key                string // as options name it: of the image, or of the struct with it
	image, path, Label string
	splits             []string
}

// FoundRows are the images found in the rows of tables, with their labels, splits and features.
type FoundRows struct {
	Found
	Rows     *origin.Rows // the origin
	Columns  Columns
	Features []manifest.Feature
	Labels   []string // in the order in which they were found
	Classes  []string // names of the labels that are ids; nil if the files have none
	Splits   stated.SplitColumns
	Unused   []string // columns of the first file
}

// rowWalker lists the images in the rows of tables.
type rowWalker struct {
	walker
	origin   *origin.Rows
	use      Columns
	columns  []table.Column // to read: the image, the path, the label if they are used, the features
	features stated.Features
	labels   stated.Labels
	splits   stated.SplitColumns
	unused   []string // columns of the first file
	classes  []string // names of the labels that are ids; nil if the files have none
	bad      int
	text     int64 // bytes kept of the rows
}

// Rows finds the images of Parquet and Arrow files.
func Rows(ctx context.Context, o *options.ImageOptions, src origin.Place) (*FoundRows, error) {
	switch {
	case o.Select.FollowSymlinks:
		return nil, plan.OptionErrorf(optname.SelectSpecFollowSymlinks, "is for directories of images")
	case o.Labels.File != "":
		return nil, plan.OptionErrorf(optname.LabelSpecFile, "is for images that are files or in records: the labels and features of images in a table are other columns of it")
	}
	a := &rowWalker{walker: walker{o: o, ctx: ctx}, origin: &origin.Rows{Src: src.At}}
	a.Origin = a.origin
	paths := make([]string, len(src.Tables))
	for i, at := range src.Tables {
		paths[i] = at.Path()
	}
	names := storage.RelativeNames(paths)
	for i, at := range src.Tables {
		if err := a.open(at, names[i]); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
	}
	if len(a.origin.Hashes) == 0 {
		return nil, fmt.Errorf("no rows in %s", src.At.Path())
	}
	a.origin.Column = a.columns[0]
	features := a.columns[len(a.columns)-len(o.Features):]
	for i := range features {
		if features[i].Narrows() {
			a.Account.Add(account.Wide, features[i].Name)
		}
	}
	a.features = stated.NewFeatures(features)
	for i := range a.origin.Tables {
		if err := a.list(&a.origin.Tables[i]); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
	}
	if err := a.nameNumbered(); err != nil {
		return nil, err
	}
	return &FoundRows{
		Found: a.Found, Rows: a.origin, Columns: a.use, Features: a.features.Described, Labels: a.labels.Names,
		Classes: a.classes, Splits: a.splits, Unused: a.unused,
	}, nil
}

// open adds a file to the origin, and merges its columns with the columns of the files before it.
func (a *rowWalker) open(at storage.Location, name string) error {
	format, err := tablefile.Detect(a.ctx, at.Path())
	if err != nil {
		return err
	}
	if format != tablefile.Parquet && format != tablefile.Arrow {
		return fmt.Errorf("%s: neither Parquet nor Arrow, as %s is", at.Path(), a.origin.Src.Path())
	}
	src, err := tablefile.Openers[format](a.ctx, at.Path(), tablefile.TextOptions{})
	if err != nil {
		return err
	}
	o := table.ScanOptions{Workers: a.o.Goroutines(), Kinds: map[string]table.Kind{}, Wanted: a.wants}
	for _, f := range a.o.Features {
		o.Kinds[f.Name] = tables.KindOf(f.Type)
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
				if a.bad++; a.bad > imagetable.MaxBadRows {
					return fmt.Errorf("%s: row %d: more than %d rows cannot be used, the last because: %s", in.Name(), c.FirstRow+int64(row), imagetable.MaxBadRows, p.Bad().Reason)
				}
			}
			if a.text > maxRowText {
				return fmt.Errorf("%s: row %d: more than %d bytes of paths, labels and %s: name fewer, or convert fewer files at a time", in.Name(), c.FirstRow+int64(row), maxRowText, optname.ImageOptionsFeatures)
			}
			a.Images = append(a.Images, p)
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
		if path, ok := origin.CellBytes(&columns[next], row); ok && len(path) <= origin.MaxName {
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
	if len(a.use.splits) > 0 {
		var cells []string
		for range a.use.splits {
			v := &columns[next]
			cell := ""
			if first, _, ok := imagetable.Cell(v, row); ok {
				cell = strings.TrimSpace(v.Text(first))
			}
			cells = append(cells, cell)
			next++
		}
		p.Split = a.splits.Of(cmp.Or(p.Path, fmt.Sprintf("image %d", p.Item)), cells)
	}
	if reason != "" {
		p.Size = 0
		p.AddExtra().Bad = &setdir.BadSample{Source: a.origin.Source(p), Stage: stage, Reason: reason}
	} else if a.features.Any() {
		p.AddExtra().Row = &origin.Row{Features: a.features.Encode(func(i int) (*table.Values, int, int, bool) {
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
	before := len(a.labels.Names)
	if p.Label = a.labels.Shared(text); len(a.labels.Names) > before {
		a.text += int64(len(text))
	}
	return ""
}
