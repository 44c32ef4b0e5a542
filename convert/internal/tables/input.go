package tables

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/csvscan"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/table"
)

// TableOptions configure how tables of any format become records. Delimiter, NoHeader, Columns and
// MissingValues are for CSV alone, MaxRow is for the formats that are text.
type TableOptions struct {
	CSVOptions

	// Format of all files. Default: inferred from the content of each.
	Format TableFormat
}

// Table converts the tables that srcs name, files or globs, into a set in the directory out. They
// are read in the given order, those of a glob in the order of their names, and are of one format.
// CSV files must have the same columns. In all other formats a column that a file does not have is
// missing in its rows; a column of integers here and of floats there is one of floats, and any
// other difference between kinds is an error.
//
// A column becomes a feature of its kind, and a list of values one of as many. A missing value
// (null) is none, which Missing handles; an empty list is a feature without values.
func Table(ctx context.Context, srcs []string, out string, o TableOptions) (*plan.Summary, error) {
	return convertTables(ctx, func() *tableInput { return New(srcs, o) }, out)
}

// convertTables converts tables. If rows turn out to be others than those of the scan, which may be
// that of an earlier run, all is scanned again, once.
func convertTables(ctx context.Context, in func() *tableInput, out string) (*plan.Summary, error) {
	first := in()
	s, err := plan.Run(ctx, first, out)
	if ctx.Err() != nil || !errors.Is(err, csvscan.ErrChanged) && !errors.Is(err, table.ErrChanged) {
		return s, err
	}
	first.o.Notef("all tables are scanned again: %v", err)
	again := in()
	again.rescan = true
	return plan.Run(ctx, again, out)
}

// New is the input of Table.
func New(srcs []string, o TableOptions) *tableInput {
	return &tableInput{source: "table", o: &o, srcs: srcs}
}

// tableInput is the tables of a conversion.
type tableInput struct {
	source  string // the option of this name: "csv" or "table"
	o       *TableOptions
	srcs    []string
	tables  *tables // nil before scan
	columns *tableColumns
	planned *tableSource     // nil before plan
	now     func() time.Time // nil: time.Now
	rescan  bool             // scans of earlier runs are of no use
}

// Shared implements plan.Input.
func (in *tableInput) Shared() *plan.Options { return &in.o.Options }

// Scan finds the row boundaries and determines the columns.
func (in *tableInput) Scan(ctx context.Context, out string) (err error) {
	if in.tables, err = in.o.open(ctx, in.srcs); err != nil {
		return err
	}
	if in.now != nil {
		in.tables.now = in.now
	}
	if in.rescan {
		out = ""
	}
	if err := in.tables.scan(ctx, in.o, out); err != nil {
		return err
	}
	in.columns, err = in.o.resolve(in.tables)
	return err
}

// Plan implements plan.Input.
func (in *tableInput) Plan(ctx context.Context, before *plan.Previous) (plan.Source, error) {
	s, err := planTable(ctx, in.o, in.tables, in.columns, before)
	if err != nil {
		return nil, err
	}
	s.kind, in.planned = in.source, s
	return s, nil
}

// Close implements plan.Input.
func (in *tableInput) Close() {
	if in.planned != nil {
		in.planned.close()
	}
	if in.tables != nil {
		in.tables.close()
	}
}

// open checks the options, fills in defaults and opens the sources.
func (o *TableOptions) open(ctx context.Context, srcs []string) (*tables, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	t, err := openTables(ctx, srcs, o)
	if err != nil {
		return nil, err
	}
	o.Name = cmp.Or(o.Name, t.name())
	if err := o.Check(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// complete fills in defaults and returns an error for invalid options.
func (o *TableOptions) complete() error {
	o.Columns, o.Vectors = plan.Given(o.Columns), plan.Given(o.Vectors)
	o.Missing = cmp.Or(o.Missing, MissingDrop)
	o.Even = o.Even && o.Shuffle // rows in order are in shards of even lengths
	o.Memory = cmp.Or(o.Memory, 512<<20)
	o.MaxRow = cmp.Or(o.MaxRow, csvscan.DefaultMaxRow)
	switch {
	case o.Format != "" && o.Format != TableCSV && Openers[o.Format] == nil:
		return plan.OptionErrorf(optname.TableOptionsFormat, "%q: want %s", o.Format, strings.Join(TableFormats(), ", "))
	case o.Missing != MissingDrop && o.Missing != MissingDefault && o.Missing != MissingError:
		return plan.OptionErrorf(optname.CSVOptionsMissing, "%q: want drop-feature, default or error", o.Missing)
	case o.Vocab && o.Label == "":
		return plan.OptionErrorf(optname.CSVOptionsVocab, "needs %s: the column to map", optname.CSVOptionsLabel)
	case o.LabelOffset != 0 && !o.Vocab:
		return plan.OptionErrorf(optname.CSVOptionsLabelOffset, "needs %s and %s", optname.CSVOptionsLabel, optname.CSVOptionsVocab)
	case o.LabelOffset < 0 || o.LabelOffset > 1<<20:
		return plan.OptionErrorf(optname.CSVOptionsLabelOffset, "%d is not between 0 and %d", o.LabelOffset, 1<<20)
	case strings.IndexByte("\"\r\n", o.Delimiter) >= 0:
		return plan.OptionErrorf(optname.CSVOptionsDelimiter, "%q is a quote or ends a row", o.Delimiter)
	case o.NoHeader && len(o.Columns) == 0:
		return plan.OptionErrorf(optname.CSVOptionsNoHeader, "the columns need names: %s", optname.CSVOptionsColumns)
	case o.MaxRow < csvscan.ChunkSize || o.MaxRow > 1<<30:
		return plan.OptionErrorf(optname.CSVOptionsMaxRow, "%d bytes: want 1 MiB to 1 GiB", o.MaxRow)
	case o.Memory < 16<<20:
		return plan.OptionErrorf(optname.CSVOptionsMemory, "%d bytes: want 16 MiB or more", o.Memory)
	}
	var splits []string
	for _, share := range o.SplitShares() {
		splits = append(splits, share.Name)
	}
	if err := o.CheckShardsOf(splits); err != nil {
		return err
	}
	for field, names := range map[optname.Name][]string{optname.CSVOptionsTypes: slices.Sorted(maps.Keys(o.Types)), optname.CSVOptionsLabel: {o.Label}, optname.CSVOptionsKey: {o.Key}} {
		for _, name := range names {
			if name != "" && o.drops(name) {
				return plan.OptionErrorf(field, "column %q is left out by %s", name, optname.CSVOptionsDrop)
			}
		}
	}
	seen := map[string]bool{}
	for _, name := range o.Vocabulary {
		if seen[name] {
			return plan.OptionErrorf(optname.CSVOptionsVocab, "%q is named twice", name)
		}
		seen[name] = true
	}
	return nil
}

// drops reports whether Drop names a column, or what it is a member of.
func (o *TableOptions) drops(column string) bool {
	if o.Format == TableCSV {
		return slices.Contains(o.Drop, column)
	}
	return slices.ContainsFunc(o.Drop, func(name string) bool { return table.Within(column, name) })
}

// effective returns the options that the bytes depend on, by manifest key. What follows from the
// input, such as inferred types, is not included but is part of the identity of the rows: when the
// input changes, the set is out of date, but its options are the same.
func (s *tableSource) effective() map[string]any {
	m := s.table().Recorded()
	m[plan.OptionSource] = s.kind
	s.o.RecordShards(m, s.planned)
	return m
}

// table returns the options of the kind of input.
func (s *tableSource) table() option.Table {
	if s.kind == "csv" {
		return s.o.CSVOptions.Table()
	}
	return s.o.Table()
}
