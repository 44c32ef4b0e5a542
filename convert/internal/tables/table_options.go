package tables

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/charset"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// TableOptions configure how tables of any format become records. Delimiter, NoHeader, Columns and
// MissingValues are for CSV alone, MaxRow is for the formats that are text.
type TableOptions struct {
	CSVOptions

	// Format of all files. Default: inferred from the content of each.
	Format tablefile.Format
}

// open checks the options, opens the sources, and fills in defaults.
func (o *TableOptions) open(ctx context.Context, srcs []string) (*tablefile.Tables, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	encoding, err := charset.Parse(o.Encoding)
	if err != nil {
		return nil, plan.OptionErrorf(optname.CSVOptionsEncoding, "%w", err)
	}
	o.Encoding = encoding.String()
	files := tablefile.Options{
		Format: o.Format, Encoding: encoding, Delimiter: o.Delimiter, NoHeader: o.NoHeader, Columns: o.Columns, MissingValues: o.MissingValues,
		MaxRow: o.MaxRow, Kinds: make(map[string]table.Kind, len(o.Types)), Drop: o.Drop,
		Workers: o.Goroutines(), HashInputs: o.HashInputs, TrustTimes: o.TrustTimes,
	}
	for name, kind := range o.Types {
		files.Kinds[name] = KindOf(kind)
	}
	if o.Vocab && o.Vocabulary == nil {
		files.Distinct = o.Label
	}
	t, err := tablefile.Open(ctx, srcs, files)
	if err != nil {
		return nil, err
	}
	if o.Format = t.Format; o.Format == tablefile.CSV && o.MissingValues == nil {
		o.MissingValues = csvscan.DefaultMissing
	}
	o.Name = cmp.Or(o.Name, t.Name())
	if err := o.Check(); err != nil {
		t.Close()
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
	case o.Format != "" && o.Format != tablefile.CSV && tablefile.Openers[o.Format] == nil:
		return plan.OptionErrorf(optname.TableOptionsFormat, "%q: want %s", o.Format, strings.Join(tablefile.Formats(), ", "))
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
func (o *TableOptions) drops(column string) bool { return tablefile.Drops(o.Format, o.Drop, column) }

// effective returns the options that the bytes depend on, by manifest key. What follows from the
// input, such as inferred types, is not included but is part of the identity of the rows: when the
// input changes, the set is out of date, but its options are the same.
func (s *tableSource) effective() map[string]any {
	m := s.table().Recorded()
	m[plan.OptionSource] = s.kind
	if s.byName && !slices.Equal(s.splits, []string{"train"}) {
		m[plan.OptionSplits] = plan.SplitsByDirectories
	}
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
