package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/regular"
)

// csvFlags are the flags of convert csv.
type csvFlags struct {
	convertFlags
	csv         convert.CSVOptions
	schema      string
	vocab       string
	printSchema bool
}

func newConvertCSVCommand(e *Engine) *cobra.Command {
	f := &csvFlags{convertFlags: convertFlags{engine: e}}
	o := &f.csv
	cmd := &cobra.Command{
		Use:   "csv SRC... OUT",
		Short: "Convert CSV files to shards",
		Long: `Convert the rows of CSV files to a sharded set of TFRecords in OUT.

SRC is a file, a glob, a pipe or - for stdin, plain or compressed with gzip or zstd.
Pipes are first copied to the system's temporary directory. Each column is a feature:
int64 when all of its values are integers, float when all are numbers, bytes
otherwise (numbers with leading zeros, a plus sign or more digits than int64
holds are kept as bytes). Types are inferred over the whole input; --column
and --schema set them. Rows keep the order of the input unless --shuffle is given.

Fields may be quoted as Python's csv module writes them. Rows with too few or too
many fields, and values that are not of the type of their column, are listed in
OUT/errors.jsonl with file and line; --max-errors says how many are allowed.`,
		Example: `  tfrec convert csv trips.csv out/
  tfrec convert csv 'part-*.csv.gz' out/ --splits train=0.9,val=0.1 --shuffle
  tfrec convert csv card.csv out/ --vector v=V1..V28 --label Class --column Amount=float
  tfrec convert csv trips.csv --print-schema > schema.json`,
		Annotations: map[string]string{faultsMean: convertFaults},
		Args: f.args(func(cmd *cobra.Command, args []string) error {
			switch {
			case f.printSchema && len(args) < 1:
				return usageError("want SRC... with --print-schema")
			case !f.printSchema && len(args) < 2:
				return usageError("want SRC... OUT: the CSV files and the directory to write to")
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := f.configure(cmd, "csv", args)
			if err != nil {
				return err
			}
			if f.printSchema {
				return f.runPrintSchema(cmd, args)
			}
			srcs, out := args[:len(args)-1], args[len(args)-1]
			temp, pipes := "", spooled{}
			defer func() { _ = os.RemoveAll(temp) }()
			return f.run(cmd, out, &conversion{
				complete: func() error {
					err := f.complete(cmd)
					if err == nil {
						srcs, temp, err = f.spool(cmd, srcs, pipes)
					}
					return err
				},
				whole: func(ctx context.Context) (*convert.Summary, error) {
					sum, err := convert.CSV(ctx, srcs, out, *o)
					return sum, pipes.name(err)
				},
				begin: func(ctx context.Context) (*convert.Job, error) { return convert.BeginCSV(ctx, srcs, out, *o) },
				join:  func(ctx context.Context) (*convert.Job, error) { return convert.JoinCSV(ctx, srcs, out, *o) },
			})
		},
	}
	fs := cmd.Flags()
	f.add(fs)
	textVar(fs, "delimiter", "auto", "CHAR", `field delimiter: a character, tab or \t, or auto: inferred from the first lines (one of , ; tab |)`, func(s string) (err error) {
		o.Delimiter, err = parseDelimiter(s)
		return err
	}, "auto", "tab", ",", ";")
	fs.BoolVar(&o.NoHeader, "no-header", false, "the first row is data, not a header (needs --columns)")
	fs.StringSliceVar(&o.Columns, "columns", nil, "column names `NAME,...`, instead of the header's")
	textVar(fs, "column", "inferred", "NAME=TYPE", "type of a column: int64, float or bytes (repeatable)", func(s string) error {
		name, kind, ok := cutLast(s, "=")
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
	fs.StringVar(&f.schema, "schema", "", "JSON `FILE` with the types of columns, as --print-schema writes it")
	fs.BoolVar(&f.printSchema, "print-schema", false, "print the types of the columns as JSON, and do not convert")
	wordVar(fs, &o.Missing, "na", convert.MissingDrop, "HOW", "missing values: drop-feature leaves the feature out of the record, default stores 0 or nothing, error makes the row unusable",
		string(convert.MissingDrop), string(convert.MissingDefault), string(convert.MissingError))
	textVar(fs, "na-values", ",NA,N/A,NULL,null", "SPELLING,...", "spellings of a missing value, instead of these; the empty one is the empty field (repeatable)", func(s string) error {
		o.MissingValues = append(o.MissingValues, strings.Split(s, ",")...)
		return nil
	})
	textVar(fs, "vector", "", "NAME=FIRST..LAST", "pack columns into one feature: NAME=FIRST..LAST or NAME=A,B,C (repeatable)", func(s string) error {
		v, err := convert.ParseVector(s)
		o.Vectors = append(o.Vectors, v)
		return err
	})
	fs.StringVar(&o.Label, "label", "", "`COLUMN` with the label")
	fs.StringVar(&f.vocab, "vocab", "", "map the text of the label to ids: the indexes of its values, sorted (integers as numbers, so that 0 to N-1 are their own ids), or with =`FILE` of the lines in that file; the names go into the manifest and the labels file that TFDS reads")
	fs.Lookup("vocab").NoOptDefVal = vocabFromData
	fs.IntVar(&o.LabelOffset, "label-offset", 0, "start label ids at `N`, after N background names")
	fs.StringVar(&o.Key, "key", "", "`COLUMN` that names a row in errors.jsonl (default: file and line)")
	fs.BoolVar(&o.Shuffle, "shuffle", false, "shuffle the rows of a split over all of its shards")
	textVar(fs, "memory", "512MiB", "SIZE", "memory for --shuffle; beyond it, disk space in OUT is used", func(s string) (err error) {
		o.Memory, err = parseSize(s)
		return err
	})
	textVar(fs, "max-row", "64MiB", "SIZE", "maximum length of a row", func(s string) (err error) {
		o.MaxRow, err = parseSize(s)
		return err
	})
	e.addFlags(fs)
	return cmd
}

// vocabFromData is the value of --vocab without a file.
const vocabFromData = "-"

// complete reads the files that flags name, and puts the shared flags in.
func (f *csvFlags) complete(cmd *cobra.Command) error {
	o := &f.csv
	o.Options = f.options
	if f.vocab != "" {
		o.Vocab = true
	} else if f.like != nil && string(f.like.Options["vocab"]) == "true" {
		o.Vocab, o.Vocabulary = true, f.like.Labels[min(o.LabelOffset, len(f.like.Labels)):]
	}
	if f.vocab != "" && f.vocab != vocabFromData {
		names, err := readLines(f.vocab)
		if err != nil {
			return fmt.Errorf("--vocab: %w", err)
		}
		o.Vocabulary = names
	}
	if f.schema == "" {
		return nil
	}
	schema, err := convert.ReadSchema(cmd.Context(), f.schema)
	if err != nil {
		return fmt.Errorf("--schema: %w", err)
	}
	if o.Types == nil {
		o.Types = map[string]convert.ColumnType{}
	}
	for _, c := range schema.Columns {
		if _, given := o.Types[c.Name]; !given {
			o.Types[c.Name] = c.Type
		}
	}
	return nil
}

// spool copies the pipes of SRC, and stdin for a dash, to files, since a conversion
// reads its input more than once. It returns SRC with these files in it, which it adds
// to pipes, and the directory to remove afterwards.
func (f *csvFlags) spool(cmd *cobra.Command, srcs []string, pipes spooled) (files []string, temp string, err error) {
	files = slices.Clone(srcs)
	for i, src := range srcs {
		if src != dash && !isPipe(src) {
			continue
		}
		if f.engine != nil || f.csv.Depfile != "" {
			return nil, temp, usageError("%s: a pipe can be read only once, and this run reads it again; write it to a file first", src)
		}
		if temp == "" {
			if temp, err = os.MkdirTemp("", "tfrec-pipe-*"); err != nil {
				return nil, "", err
			}
		}
		f.csv.HashInputs = true // it is a new file each time
		if files[i], err = spool(cmd, src, temp); err != nil {
			return nil, temp, err
		}
		pipes[files[i]] = src
		if src == dash {
			pipes[files[i]] = "stdin"
		}
	}
	return files, temp, nil
}

// runPrintSchema prints the types of the columns. A last argument that does not exist is taken for
// the OUT of the later conversion.
func (f *csvFlags) runPrintSchema(cmd *cobra.Command, args []string) error {
	if err := f.complete(cmd); err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	if !quietFlag(cmd) {
		f.csv.Note = notesTo(stderr)
	}
	if last := args[len(args)-1]; len(args) > 1 && !strings.ContainsAny(last, "*?[") {
		if st, err := os.Stat(last); err != nil || st.IsDir() {
			args = args[:len(args)-1]
		}
	}
	pipes := spooled{}
	args, temp, err := f.spool(cmd, args, pipes)
	defer func() { _ = os.RemoveAll(temp) }()
	if err != nil {
		return err
	}
	schema, err := convert.CSVSchema(cmd.Context(), args, f.csv)
	switch {
	case err != nil:
		return pipes.name(err)
	case jsonFlag(cmd):
		return printJSON(cmd, schema)
	}
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(schema)
}

// parseDelimiter reads a delimiter.
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

// cutLast cuts around the last sep: names may hold it.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// maxVocab is the largest vocabulary in bytes.
const maxVocab = 16 << 20

// readLines reads a file of one name a line.
func readLines(path string) ([]string, error) {
	data, err := regular.ReadFile(path, maxVocab)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("%s: no names", path)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines, nil
}
