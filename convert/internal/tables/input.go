package tables

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// Table converts the tables that srcs name, files or globs, into a set in the directory out. They
// are read in the given order, the matches of a glob by name, and have one format.
// CSV files must have the same columns. In all other formats a column that a file does not have is
// missing in its rows; a column of integers here and of floats there is one of floats, and any
// other difference between kinds is an error.
//
// A column becomes a feature of its kind, and a list of values one of as many. A missing value
// (null) is none, which Missing handles; an empty list is a feature without values.
func Table(ctx context.Context, srcs []string, out string, o TableOptions, of SplitsOf) (*plan.Summary, error) {
	return convertTables(ctx, func() *tableInput { return New(srcs, o, of) }, out)
}

// CSV converts the tables that srcs name, files or globs, into a set in the directory out. They are
// read in the given order, the matches of a glob by name, and must have the same columns.
func CSV(ctx context.Context, srcs []string, out string, o CSVOptions, of SplitsOf) (*plan.Summary, error) {
	return convertTables(ctx, func() *tableInput { return NewCSV(srcs, o, of) }, out)
}

// NewCSV is the input of CSV.
func NewCSV(srcs []string, o CSVOptions, of SplitsOf) *tableInput {
	return &tableInput{source: "csv", o: &TableOptions{CSVOptions: o, Format: tablefile.CSV}, srcs: srcs, splitsOf: of}
}

// convertTables converts tables. If rows differ from the scan, which an earlier run may have made, all
// tables are scanned again, once.
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
func New(srcs []string, o TableOptions, of SplitsOf) *tableInput {
	return &tableInput{source: "table", o: &o, srcs: srcs, splitsOf: of}
}

// SplitsOf returns the split that the name of each of several files states; nil if not all state
// one.
type SplitsOf func(paths []string) ([]string, error)

// tableInput is the tables of a conversion.
type tableInput struct {
	source   string // the option of this name: "csv" or "table"
	o        *TableOptions
	srcs     []string
	splitsOf SplitsOf
	splits   []string          // of the files; nil if their names state none, or options give others
	tables   *tablefile.Tables // nil before scan
	columns  *tableColumns
	planned  *tableSource     // nil before plan
	now      func() time.Time // nil: time.Now
	rescan   bool             // scans of earlier runs cannot be used
}

// Shared implements plan.Input.
func (in *tableInput) Shared() *plan.Options { return &in.o.Options }

// Scan finds the row boundaries and determines the columns.
func (in *tableInput) Scan(ctx context.Context, out string) (err error) {
	if in.tables, err = in.o.open(ctx, in.srcs); err != nil {
		return err
	}
	if in.now != nil {
		in.tables.Now = in.now
	}
	if err := in.findSplits(); err != nil {
		return err
	}
	if in.rescan {
		out = ""
	}
	if err := in.tables.Scan(ctx, out); err != nil {
		return err
	}
	in.columns, err = in.o.resolve(in.tables)
	return err
}

// Plan implements plan.Input.
func (in *tableInput) Plan(ctx context.Context, before *plan.Previous) (plan.Source, error) {
	s, err := planTable(ctx, in.o, in.tables, in.columns, in.splits, before)
	if err != nil {
		return nil, err
	}
	s.kind, in.planned = in.source, s
	return s, nil
}

// findSplits finds the splits that the names of the files state, unless options give others.
func (in *tableInput) findSplits() (err error) {
	if len(in.o.Splits) == 0 {
		var paths []string
		for _, f := range in.tables.Files {
			paths = append(paths, f.Name())
		}
		if in.splits, err = in.splitsOf(paths); err != nil {
			return err
		}
	}
	names := in.o.splitNames(in.splits)
	if in.splits != nil && !slices.Equal(names, []string{"train"}) {
		in.o.Notef("splits are those that the names of the files state: %s", strings.Join(names, ", "))
	}
	return in.o.CheckShardsOf(names)
}

// splitNames returns the unique names in ofFiles, the splits of the files, sorted. If ofFiles is
// nil, it returns the names of the splits of the options.
func (o *TableOptions) splitNames(ofFiles []string) (names []string) {
	if ofFiles != nil {
		return slices.Compact(slices.Sorted(slices.Values(ofFiles)))
	}
	for _, share := range o.SplitShares() {
		names = append(names, share.Name)
	}
	return names
}

// Close implements plan.Input.
func (in *tableInput) Close() {
	if in.planned != nil {
		in.planned.close()
	}
	if in.tables != nil {
		in.tables.Close()
	}
}
