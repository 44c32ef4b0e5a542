package conversion

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/annotation/classfile"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/option"
)

func newConvertTableCommand(e *Engine) *cobra.Command {
	return newTableCommand(e, &cobra.Command{
		Use:   "table SRC... OUT",
		Short: "Convert tables (CSV, JSON lines, Parquet, Arrow, NumPy) to shards",
		Long: `Convert the rows of tables to a sharded set of TFRecords in OUT. SRC is a file, a glob,
a pipe or - for stdin: CSV, JSON lines, Parquet, Arrow, or arrays of NumPy. Columns are
features of the types of the file, or inferred over the whole input. Rows keep their
order unless --shuffle is given; those that cannot be used are listed in OUT/errors.jsonl.`,
		Example: `  tfrec convert table events.jsonl out/
  tfrec convert table 'part-*.jsonl.gz' out/ --splits train=0.9,val=0.1 --shuffle
  tfrec convert table 'train-*.parquet' out/
  tfrec convert table events.jsonl out/ --label kind --vocab --column price=float
  tfrec export set/ set.jsonl --format jsonl && tfrec convert table set.jsonl again/`,
	})
}

// tableFlags are the flags of convert csv and convert table.
type tableFlags struct {
	convertFlags
	tables      convert.TableOptions
	schema      string
	vocab       string
	printSchema bool
}

func newTableFlags(e *Engine, verb string) *tableFlags {
	f := &tableFlags{convertFlags: convertFlags{engine: e}}
	f.options = &f.tables.Options
	table := f.tables.Table()
	if verb == kindCSV {
		f.tables.Format = convert.TableCSV
		table = f.tables.CSVOptions.Table()
	}
	vocab := table.Find("vocab") // may name a file
	vocab.To, vocab.Bare = &f.vocab, vocabFromData
	f.table = slices.Concat(table, f.convertFlags.rows(), f.rows())
	return f
}

// rows are the options that package convert does not have.
func (f *tableFlags) rows() []option.Option {
	return []option.Option{
		{Flag: "schema", Group: option.Source, To: &f.schema, Help: "JSON `FILE` with the types of columns, as --print-schema writes it"},
		{Flag: "print-schema", Group: option.Run, To: &f.printSchema, Help: "print the types of the columns as JSON, and do not convert", Once: true},
	}
}

// newTableCommand completes verb as one that converts tables: CSV files, if that is its name, and
// otherwise tables of any format.
func newTableCommand(e *Engine, verb *cobra.Command) *cobra.Command {
	f := newTableFlags(e, verb.Name())
	isCSV := verb.Name() == kindCSV
	verb.Annotations = map[string]string{cli.FaultsMean: convertFaults, cli.Topics: "sources labels splits formats stores"}
	verb.Args = f.args(func(_ *cobra.Command, args []string) error {
		switch {
		case f.printSchema && len(args) < 1:
			return cli.UsageError("want SRC... with --print-schema")
		case !f.printSchema && len(args) < 2 && isCSV:
			return cli.UsageError("want SRC... OUT: the CSV files and the directory to write to")
		case !f.printSchema && len(args) < 2:
			return cli.UsageError("want SRC... OUT: the tables and the directory to write to")
		}
		return nil
	})
	verb.RunE = func(cmd *cobra.Command, args []string) error {
		args, err := f.configure(cmd, cmd.Name(), args)
		if err != nil {
			return err
		}
		if f.printSchema {
			return f.runPrintSchema(cmd, args)
		}
		return f.convert(cmd, args[:len(args)-1], args[len(args)-1], isCSV)
	}
	f.add(verb.Flags())
	return verb
}

// convert converts srcs into a set in out.
func (f *tableFlags) convert(cmd *cobra.Command, srcs []string, out string, isCSV bool) error {
	o := &f.tables
	temp, pipes := "", cli.Spooled{}
	defer func() { _ = os.RemoveAll(temp) }()
	c := &conversion{
		complete: func() error {
			err := f.complete(cmd)
			if err == nil {
				srcs, temp, err = f.spool(cmd, srcs, pipes)
			}
			return err
		},
		whole: func(ctx context.Context) (*convert.Summary, error) {
			sum, err := convert.Table(ctx, srcs, out, *o)
			return sum, pipes.Name(err)
		},
		begin: func(ctx context.Context) (*convert.Job, error) { return convert.BeginTable(ctx, srcs, out, *o) },
		join:  func(ctx context.Context) (*convert.Job, error) { return convert.JoinTable(ctx, srcs, out, *o) },
	}
	if isCSV {
		c.whole = func(ctx context.Context) (*convert.Summary, error) {
			sum, err := convert.CSV(ctx, srcs, out, o.CSVOptions)
			return sum, pipes.Name(err)
		}
		c.begin = func(ctx context.Context) (*convert.Job, error) { return convert.BeginCSV(ctx, srcs, out, o.CSVOptions) }
		c.join = func(ctx context.Context) (*convert.Job, error) { return convert.JoinCSV(ctx, srcs, out, o.CSVOptions) }
	}
	return f.run(cmd, out, c)
}

// vocabFromData is the value of --vocab without a file.
const vocabFromData = "-"

// complete reads the files that flags name.
func (f *tableFlags) complete(cmd *cobra.Command) error {
	o := &f.tables
	if f.vocab != "" {
		o.Vocab = true
	} else if f.like != nil && string(f.like.Options["vocab"]) == "true" {
		o.Vocab = true
		if len(f.like.Labels) > o.LabelOffset { // else labels have no names
			o.Vocabulary = f.like.Labels[o.LabelOffset:]
		}
	}
	if f.vocab != "" && f.vocab != vocabFromData {
		list, err := classfile.Read(cmd.Context(), f.vocab)
		if err != nil {
			return fmt.Errorf("--vocab: %w", err)
		}
		o.Vocabulary = list.Names()
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
func (f *tableFlags) spool(cmd *cobra.Command, srcs []string, pipes cli.Spooled) (files []string, temp string, err error) {
	files = slices.Clone(srcs)
	for i, src := range srcs {
		if src != cli.Dash && !cli.IsPipe(src) {
			continue
		}
		if f.engine != nil || f.tables.Depfile != "" {
			return nil, temp, cli.UsageError("%s: a pipe can be read only once, and this run reads it again; write it to a file first", src)
		}
		if temp == "" {
			if temp, err = os.MkdirTemp("", "tfrec-pipe-*"); err != nil {
				return nil, "", err
			}
		}
		f.tables.HashInputs = true // it is a new file each time
		if files[i], err = cli.Spool(cmd, src, temp); err != nil {
			return nil, temp, err
		}
		pipes[files[i]] = src
		if src == cli.Dash {
			pipes[files[i]] = "stdin"
		}
	}
	return files, temp, nil
}

// runPrintSchema prints the types of the columns. A last argument that does not exist is taken for
// the OUT of the later conversion.
func (f *tableFlags) runPrintSchema(cmd *cobra.Command, args []string) error {
	if err := f.complete(cmd); err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	if !cli.QuietFlag(cmd) {
		f.tables.Note = cli.NotesTo(stderr)
	}
	if last := args[len(args)-1]; len(args) > 1 && !strings.ContainsAny(last, "*?[") {
		if st, err := os.Stat(last); err != nil || st.IsDir() {
			args = args[:len(args)-1]
		}
	}
	pipes := cli.Spooled{}
	args, temp, err := f.spool(cmd, args, pipes)
	defer func() { _ = os.RemoveAll(temp) }()
	if err != nil {
		return err
	}
	schema, err := convert.TableSchema(cmd.Context(), args, f.tables)
	switch {
	case err != nil:
		return pipes.Name(err)
	case cli.JSONFlag(cmd):
		return cli.PrintJSON(cmd, schema)
	}
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(schema)
}
