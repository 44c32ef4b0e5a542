package tables

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// Table returns the options of tables of CSV.
func (o *CSVOptions) Table() option.Table { return option.New(o, o.rows(true)) }

// Table returns the options of tables of any format.
func (o *TableOptions) Table() option.Table {
	formats := append(tablefile.Formats(), "auto")
	return option.New(o, o.rows(o.Format == tablefile.CSV), []option.Option{{
		Flag: "format", Group: option.Source, To: &o.Format, Value: "FORMAT", Default: "auto", Words: formats,
		Help: "format of all files: " + plural.OneOf(formats) + ": inferred from their content",
		Set: func(s string) error {
			if !slices.Contains(formats, s) {
				return fmt.Errorf("want %s", plural.OneOf(formats))
			}
			o.Format = tablefile.Format(strings.TrimPrefix(s, "auto"))
			return nil
		},
		Recorded: true,
	}})
}

// rows are the options of tables; csv records the options that only apply to CSV files.
func (o *CSVOptions) rows(csv bool) []option.Option {
	return slices.Concat(o.Options.Rows(shares.FormatSplits(o.SplitShares())),
		option.In(option.Source, slices.Concat(o.fileRows(csv), o.columnRows())),
		option.In(option.Labels, o.labelRows()), option.In(option.Splits, o.orderRows()))
}

// fileRows are the options about how files are read.
func (o *CSVOptions) fileRows(csv bool) []option.Option {
	return []option.Option{
		{
			Flag: "encoding", To: &o.Encoding, Default: "utf-8",
			Help:     "encoding `NAME` of CSV files, such as latin1, cp1252, shift_jis or gbk; UTF-16 is recognized by its mark",
			Recorded: csv && o.Encoding != "",
		},
		{
			Flag: "delimiter", Common: true, To: &o.Delimiter, Value: "CHAR", Default: "auto", Words: []string{"auto", "tab", ",", ";"},
			Help: `field delimiter: a character, tab or \t, or auto: inferred from the first lines (one of , ; tab |)`,
			Set:  option.Parse(&o.Delimiter, parseDelimiter), Recorded: csv, As: func() any { return delimiterText(o.Delimiter) }, Restore: restoreDelimiter,
		},
		{Flag: "no-header", To: &o.NoHeader, Help: "the first row is data, not a header (needs --columns)", Recorded: csv},
		{Flag: "columns", To: &o.Columns, Many: option.Joined, Help: "column names `NAME,...`, instead of the header's", Recorded: csv},
		{
			Flag: "na-values", To: &o.MissingValues, Value: "SPELLING,...", Default: strings.Join(csvscan.DefaultMissing, ","), Many: option.Joined,
			Help: "spellings of a missing value, instead of these; the empty one is the empty field (repeatable)",
			Set: func(s string) error {
				o.MissingValues = append(o.MissingValues, strings.Split(s, ",")...)
				return nil
			},
			Recorded: csv, Restore: restoreMissingValues,
		},
		{Flag: "max-row", To: &o.MaxRow, Value: "SIZE", Default: "64MiB", Help: "maximum length of a row", Set: option.Parse(&o.MaxRow, size.Parse)},
	}
}

// columnRows are the options about what columns become.
func (o *CSVOptions) columnRows() []option.Option {
	return []option.Option{
		{
			Flag: "column", Common: true, To: &o.Types, Value: "NAME=TYPE", Default: "inferred", Many: option.Repeated,
			Help: "type of a column: int64, float, bytes, or of its texts: bool, date, time or number, with a layout after a colon: date:02.01.2006, number:, (repeatable)", Set: o.addType, Recorded: true, As: func() any { return typeTexts(o.Types) },
		},
		{
			Flag: "drop", Common: true, To: &o.Drop, Many: option.Joined, Recorded: len(o.Drop) > 0,
			Help: "leave out the columns `NAME,...`, whatever they hold, such as maps and lists of lists; a/b is the member b of a",
		},
		{
			Flag: "na", To: &o.Missing, Value: "HOW", Default: string(MissingDrop),
			Words: []string{string(MissingDrop), string(MissingDefault), string(MissingError)},
			Help:  "missing values: drop-feature leaves the feature out of the record, default stores 0 or nothing, error makes the row unusable", Recorded: true,
		},
		{
			Flag: "vector", To: &o.Vectors, Value: "NAME=FIRST..LAST", Many: option.Repeated,
			Help: "pack columns into one feature: NAME=FIRST..LAST or NAME=A,B,C (repeatable)", Set: option.Append(&o.Vectors, ParseVector),
			Recorded: true, Restore: restoreVectors,
		},
	}
}

// labelRows are the options about labels and keys. The names that Vocabulary gives are the manifest's
// labels.
func (o *CSVOptions) labelRows() []option.Option {
	return []option.Option{
		{Flag: "label", Common: true, To: &o.Label, Help: "`COLUMN` with the label; rows without one are unusable, unless --na default stores -1", Recorded: true},
		{
			Flag: "vocab", Common: true, To: &o.Vocab, Recorded: true, Restore: option.Nothing,
			Help: "map the text of the label to ids: those of its sorted values, or with =`FILE` of the lines in that file",
		},
		{Flag: "label-offset", To: &o.LabelOffset, Help: "start label ids at `N`, after N background names", Recorded: true},
		{Flag: "key", Group: option.Run, To: &o.Key, Help: "`COLUMN` that names a row in errors.jsonl (default: file and line)", Recorded: true},
	}
}

// orderRows are the options about the order of rows.
func (o *CSVOptions) orderRows() []option.Option {
	return []option.Option{
		{Flag: "shuffle", Common: true, To: &o.Shuffle, Help: "shuffle the rows of a split over all of its shards", Recorded: true},
		{
			Flag: "memory", Group: option.Machine, To: &o.Memory, Value: "SIZE", Default: "512MiB", Help: "memory for --shuffle; beyond it, disk space in OUT is used",
			Set: option.Parse(&o.Memory, size.Parse),
		},
	}
}

// parseDelimiter parses a delimiter; 0 means to detect it.
func parseDelimiter(s string) (byte, error) {
	switch s {
	case "auto":
		return 0, nil
	case "tab", `\t`:
		return '\t', nil
	}
	if len(s) != 1 || s == `"` || s == "\n" || s == "\r" || s == "\x00" {
		return 0, fmt.Errorf("want one character of one byte, but no quote and no line end; tab or \\t; or auto")
	}
	return s[0], nil
}

// delimiterText formats a delimiter for a manifest, which is UTF-8: a byte from 0x80 on is the character
// of that number.
func delimiterText(b byte) string {
	if b == 0 {
		return "auto"
	}
	return string(rune(b))
}

// restoreDelimiter reverses delimiterText.
func restoreDelimiter(recorded map[string]json.RawMessage) ([]string, error) {
	var s string
	if err := json.Unmarshal(recorded["delimiter"], &s); err != nil {
		return nil, err
	}
	if r, n := utf8.DecodeRuneInString(s); n == len(s) && r >= utf8.RuneSelf && r <= 0xff {
		s = string([]byte{byte(r)})
	}
	return []string{s}, nil
}

// restoreMissingValues returns no values for the default: if they were given, a label called NA would be
// missing.
func restoreMissingValues(recorded map[string]json.RawMessage) ([]string, error) {
	var values []string
	if err := json.Unmarshal(recorded["na_values"], &values); err != nil || slices.Equal(values, csvscan.DefaultMissing) {
		return nil, err
	}
	return values, nil
}

// addType adds "NAME=TYPE" to Types.
func (o *CSVOptions) addType(s string) error {
	i := strings.LastIndexByte(s, '=')
	if i < 0 {
		return fmt.Errorf("want NAME=TYPE, such as NAME=int64")
	}
	t, err := ParseColumnType(s[i+1:])
	if err != nil {
		return err
	}
	if o.Types == nil {
		o.Types = map[string]ColumnType{}
	}
	o.Types[s[:i]] = t
	return nil
}

// typeTexts formats types as addType takes them, sorted.
func typeTexts(types map[string]ColumnType) []string {
	texts := make([]string, 0, len(types))
	for name, t := range types {
		texts = append(texts, name+"="+string(t))
	}
	slices.Sort(texts)
	return texts
}

// restoreVectors formats vectors for ParseVector.
func restoreVectors(recorded map[string]json.RawMessage) ([]string, error) {
	var vectors []Vector
	if err := json.Unmarshal(recorded["vector"], &vectors); err != nil {
		return nil, err
	}
	var texts []string
	for _, v := range vectors {
		texts = append(texts, v.Name+"="+strings.Join(v.Columns, ","))
	}
	return texts, nil
}
