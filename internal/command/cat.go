package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// catOptions are the flags of cat.
type catOptions struct {
	format string
	framed bool // --json: an object around each record
	read   readFlags

	skip, take        int64 // take below 0: all
	partial           bool
	saveState, resume string
	quiet             bool
}

func newCatCommand() *cobra.Command {
	var o catOptions
	cmd := &cobra.Command{
		Use:     "cat PATH...",
		GroupID: cli.GroupLook,
		Short:   "Print records",
		Long: `Print the records of files, one file after another in name order, and stop at the
first damaged one.

  text   human-readable
  json   an object per line: a feature's value, or a list of them; long bytes and
         bytes that are not text as {"size": N}
  proto  an object per line in protobuf's JSON mapping, which Python's
         json_format.Parse reads into a tf.train.Example
  hex    the bytes of a record per line

--json prints the json format with the record's file, number and offset.

The records can come in the orders of a training job. The flags act in this
order: --shard, --cycle and --block (tf.data's interleave), --cache, --shuffle,
--repeat, --skip, --take. A cache in a directory serves the next run with the same
files and the same order; a directory that holds another cache is refused.

--save-state writes the position after the last record to a file; the same flags
with --resume continue after it. --skip does not apply again then, and --take
counts from the beginning.`,
		Example: `  tfrec cat --take 3 out/
  tfrec cat --format json out/ | jq .label
  tfrec cat --format hex x.tfrecord | head -1 | xxd -r -p | protoc --decode_raw
  tfrec cat --cycle 16 --shuffle 1000 --seed 7 --take 5 --save-state at.json out/
  tfrec cat --shuffle global --shard 0/4 --repeat 2 out/`,
		Annotations: map[string]string{cli.ReadsStdin: "", cli.FaultsMean: "the data have faults; the records before the first, or before the first that --skip-bad does not allow, were printed"},
		Args:        cli.MinArgs("PATH..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd); err != nil {
				return err
			}
			return newCat(cmd.OutOrStdout(), o).all(cmd.Context(), cmd.ErrOrStderr(), args)
		},
	}
	fs := cmd.Flags()
	cli.WordVar(fs, &o.format, "format", "text", "FORMAT", "text, json, proto or hex", catFormats...)
	o.read.add(fs)
	cli.PartialVar(cmd, &o.partial)
	fs.Int64Var(&o.skip, "skip", 0, "skip the first `N` records")
	fs.Int64Var(&o.take, "take", 0, "stop after `N` records (default: all)")
	fs.StringVar(&o.saveState, "save-state", "", "at the end, write the position to `FILE`")
	fs.StringVar(&o.resume, "resume", "", "continue from the position in `FILE`, which --save-state wrote")
	cli.Group(fs, option.Run, "save-state", "resume", "skip-bad")
	cli.Group(fs, option.Machine, "parallel")
	return cmd
}

func (o *catOptions) complete(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if cli.JSONFlag(cmd) {
		if changed("format") && o.format != "json" {
			return cli.UsageError("--json and --format %s: give one of them", o.format)
		}
		o.format, o.framed = "json", true
	}
	switch {
	case !changed("take"):
		o.take = -1
	case o.take < 0:
		return cli.UsageError("--take %d: want 0 or more", o.take)
	}
	if o.skip < 0 {
		return cli.UsageError("--skip %d: want 0 or more", o.skip)
	}
	if err := storage.CheckOutput(o.saveState); err != nil {
		return fmt.Errorf("--save-state: %w", err)
	}
	o.quiet = cli.QuietFlag(cmd)
	return o.read.complete(cmd.Flags())
}

// cat prints records.
type cat struct {
	options  catOptions
	out      *bufio.Writer
	set      *reader.Set
	line     []byte
	printOne func(r reader.Record) error
	tally    *message.Tally // of the printed records; nil if all of their bytes are printed
}

func newCat(w io.Writer, o catOptions) *cat {
	c := &cat{options: o, out: bufio.NewWriterSize(w, 64<<10)}
	c.setFormat()
	return c
}

// all prints the records that the options select. After an error, the records read before it are
// printed, and count in the state that is saved.
func (c *cat) all(ctx context.Context, notes io.Writer, paths []string) error {
	o := c.options
	opts := o.read.options()
	opts.Partial = o.partial
	opts.Note = func(sentence string) { fmt.Fprintln(notes, "warning:", sentence) }
	opts.OnSkip = func(s reader.Skipped) { fmt.Fprintf(notes, "tfrec cat: %v\n", s) }
	if !o.quiet {
		opts.Logger = slog.New(cli.CostNote{Note: cli.NotesTo(notes)})
	}
	var err error
	if c.set, err = reader.OpenAll(ctx, paths, opts); err != nil {
		return cli.WithoutRemedy(err)
	}
	if opts.Workers > 1 && !o.quiet {
		fmt.Fprintf(notes, "tfrec cat: %s\n", o.read.sharding(c.set))
	}
	stream, err := c.start(ctx, o.read.pipe(c.set))
	if err != nil {
		return cli.Damage(err)
	}
	defer stream.Close()
	err = c.records(stream)
	if flushed := c.out.Flush(); flushed != nil {
		return flushed
	}
	if c.tally != nil && !o.quiet {
		if unknown := c.tally.Unknown().String(); unknown != "" {
			cli.NotesTo(notes)("unknown fields, which are not printed: " + unknown)
		}
	}
	if o.saveState != "" {
		err = errors.Join(err, saveState(o.saveState, stream.State()))
	}
	return err
}

// start starts the pipeline at its beginning, or at the state in --resume.
func (c *cat) start(ctx context.Context, pipe reader.Pipe) (*reader.Stream[reader.Record], error) {
	if c.options.resume == "" {
		return pipe.Start(ctx, reader.From{})
	}
	state, err := loadState(c.options.resume)
	if err != nil {
		return nil, err
	}
	return pipe.Start(ctx, reader.From{State: &state})
}

func (c *cat) records(stream *reader.Stream[reader.Record]) error {
	skip := c.options.skip
	if c.options.resume != "" {
		skip = 0
	}
	for left := c.options.take; left != 0; {
		record, err := stream.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return cli.Damage(err)
		}
		if skip > 0 {
			skip--
			continue
		}
		c.line = c.line[:0]
		if err := c.printOne(record); err != nil {
			return cli.Damage(c.set.Locate(record, err))
		}
		if _, err := c.out.Write(c.line); err != nil {
			return err
		}
		if left > 0 {
			left--
		}
	}
	return nil
}
