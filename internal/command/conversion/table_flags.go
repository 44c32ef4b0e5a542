package conversion

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command/cli"
)

// addTable adds the flags of tables.
func (f *tableFlags) addTable(fs *pflag.FlagSet) {
	o := &f.table
	cli.TextVar(fs, "delimiter", "auto", "CHAR", `field delimiter: a character, tab or \t, or auto: inferred from the first lines (one of , ; tab |)`, func(s string) (err error) {
		o.Delimiter, err = parseDelimiter(s)
		return err
	}, "auto", "tab", ",", ";")
	fs.BoolVar(&o.NoHeader, "no-header", false, "the first row is data, not a header (needs --columns)")
	fs.StringSliceVar(&o.Columns, "columns", nil, "column names `NAME,...`, instead of the header's")
	cli.TextVar(fs, "column", "inferred", "NAME=TYPE", "type of a column: int64, float or bytes (repeatable)", func(s string) error {
		name, kind, ok := cli.CutLast(s, "=")
		if !ok {
			return fmt.Errorf("want NAME=int64, NAME=float or NAME=bytes")
		}
		t, err := convert.ParseColumnType(kind)
		if err != nil {
			return err
		}
		if o.Types == nil {
			o.Types = map[string]convert.ColumnType{}
		}
		o.Types[name] = t
		return nil
	})
	fs.StringSliceVar(&o.Drop, "drop", nil, "leave out the columns `NAME,...`, whatever they hold, such as maps and lists of lists; a/b is the member b of a")
	fs.StringVar(&f.schema, "schema", "", "JSON `FILE` with the types of columns, as --print-schema writes it")
	fs.BoolVar(&f.printSchema, "print-schema", false, "print the types of the columns as JSON, and do not convert")
	cli.WordVar(fs, &o.Missing, "na", convert.MissingDrop, "HOW", "missing values: drop-feature leaves the feature out of the record, default stores 0 or nothing, error makes the row unusable",
		string(convert.MissingDrop), string(convert.MissingDefault), string(convert.MissingError))
	cli.TextVar(fs, "na-values", ",NA,N/A,NULL,null", "SPELLING,...", "spellings of a missing value, instead of these; the empty one is the empty field (repeatable); by default, a label of --vocab that is not an integer may be called NA", func(s string) error {
		o.MissingValues = append(o.MissingValues, strings.Split(s, ",")...)
		return nil
	})
	cli.TextVar(fs, "vector", "", "NAME=FIRST..LAST", "pack columns into one feature: NAME=FIRST..LAST or NAME=A,B,C (repeatable)", func(s string) error {
		v, err := convert.ParseVector(s)
		o.Vectors = append(o.Vectors, v)
		return err
	})
	fs.StringVar(&o.Label, "label", "", "`COLUMN` with the label; rows without one are unusable, unless --na default stores -1")
	fs.StringVar(&f.vocab, "vocab", "", "map the text of the label to ids: the indexes of its values, sorted, or with =`FILE` of the lines in that file, or the ids of that label map; integers are ids as they are; the names go into the manifest and the labels file that TFDS reads")
	fs.Lookup("vocab").NoOptDefVal = vocabFromData
	fs.IntVar(&o.LabelOffset, "label-offset", 0, "start label ids at `N`, after N background names")
	fs.StringVar(&o.Key, "key", "", "`COLUMN` that names a row in errors.jsonl (default: file and line)")
	fs.BoolVar(&o.Shuffle, "shuffle", false, "shuffle the rows of a split over all of its shards")
	cli.TextVar(fs, "memory", "512MiB", "SIZE", "memory for --shuffle; beyond it, disk space in OUT is used", func(s string) (err error) {
		o.Memory, err = cli.ParseSize(s)
		return err
	})
	cli.TextVar(fs, "max-row", "64MiB", "SIZE", "maximum length of a row", func(s string) (err error) {
		o.MaxRow, err = cli.ParseSize(s)
		return err
	})
}
