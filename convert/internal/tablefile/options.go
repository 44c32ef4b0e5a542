package tablefile

import (
	"slices"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/charset"
)

// Options configure how files are opened and scanned.
type Options struct {
	Format Format // default: by content
	// For CSV alone, as in CSVOptions.
	Encoding      charset.Charset
	Delimiter     byte
	NoHeader      bool
	Columns       []string
	MissingValues []string // default (nil): csvscan.DefaultMissing

	MaxRow   int64                 // of formats that are text
	Kinds    map[string]table.Kind // given kinds of columns
	Drop     []string              // columns that are left out
	Distinct string                // the column whose distinct values are collected; "": none
	Workers  int
	// HashInputs scans files even if they seem unchanged, and TrustTimes does not compare more than
	// their times.
	HashInputs, TrustTimes bool
}

// Drops reports whether a list of names drops a column: of CSV one that it names, in other formats also
// a member of what it names.
func Drops(f Format, names []string, column string) bool {
	if f == CSV {
		return slices.Contains(names, column)
	}
	return slices.ContainsFunc(names, func(name string) bool { return table.Within(column, name) })
}

// ColumnNumber returns the index of the column that an option names.
func ColumnNumber(field optname.Name, name string, header []string) (int, error) {
	i := slices.Index(header, name)
	if i >= 0 {
		return i, nil
	}
	return 0, plan.OptionErrorf(field, "there is no column %q; the columns are %s", name, plural.Quoted(header, 20))
}
