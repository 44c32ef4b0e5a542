package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/reshape"
)

// damagedFaults is the meaning of exit code 3 for the verbs that reshape.
const damagedFaults = "an input is damaged (tfrec repair saves its intact records), or its records do not suit the operation: nothing was written"

// reshapeFlags are the flags that verbs which make a new set of records share.
type reshapeFlags struct {
	options reshape.Options
}

// add adds all of them.
func (f *reshapeFlags) add(cmd *cobra.Command) {
	o, fs := &f.options, cmd.Flags()
	fs.StringVar(&o.Name, "name", "", "`NAME` of the dataset: the first part of every shard's name (default: the inputs', else OUT's base name in snake case)")
	cli.CompressionVar(fs, &o.Compression, "compression of the new shards: none, gzip, zlib or zstd (TensorFlow reads all but zstd; TFDS and DALI only none)")
	f.addShards(fs)
	fs.BoolVar(&o.Union, "union", false, "take inputs without a common schema: records keep their features, and the set has those of all of them")
	fs.BoolVar(&o.Overwrite, "overwrite", false, "replace the set in OUT, whatever it was made from; not in object storage")
	cli.PartialVar(cmd, &o.Partial)
	cli.Group(fs, option.Storage, "name")
	cli.Group(fs, option.Run, "union", "overwrite")
	cli.Common(fs, "compression", "overwrite")
}

// addShards adds the flags that do not describe the set as a whole.
func (f *reshapeFlags) addShards(fs *pflag.FlagSet) {
	o := &f.options
	cli.SeedVar(fs, &o.Seed, "seed of every random choice")
	cli.ShardsVar(fs, &o.Shards, &o.SplitShards)
	cli.TextVar(fs, "shard-size", "", "SIZE", "make shards of about this size, such as 256MiB", func(s string) (err error) {
		if o.ShardSize, err = size.Parse(s); err == nil && o.ShardSize == 0 {
			err = errors.New("want a size above 0")
		}
		return err
	})
	cli.TextVar(fs, "records-per-shard", "", "N", "make shards of N records; the last of a split may have fewer", func(s string) (err error) {
		if o.RecordsPerShard, err = strconv.ParseInt(s, 10, 64); err != nil || o.RecordsPerShard < 1 {
			err = errors.New("want a number above 0")
		}
		return err
	})
	cli.TextVar(fs, "memory", "256MiB", "SIZE", "memory for shuffling, sorting and comparing records; beyond it, disk space in OUT or, for a URL, in the system's temporary directory is used", func(s string) (err error) {
		o.Memory, err = size.Parse(s)
		return err
	})
	cli.MaxRecordVar(fs, &o.MaxRecord)
	cli.WorkersVar(fs, &o.Workers, "process `N` blocks of records at a time")
	cli.Group(fs, option.Splits, "seed", "shard-size", "records-per-shard")
	cli.Group(fs, option.Machine, "memory")
	cli.Common(fs, "seed", "shards", "shard-size")
}

// note passes a sentence to Options.Note, if set.
func (f *reshapeFlags) note(format string, args ...any) {
	if f.options.Note != nil {
		f.options.Note(fmt.Sprintf(format, args...))
	}
}

// run runs a reshaping with progress, and prints its report, which is a
// *reshape.Report or has one embedded.
func (f *reshapeFlags) run(cmd *cobra.Command, out string, work func(context.Context) (any, error)) error {
	o := &f.options
	if cmd.Flags().Changed("workers") && o.Workers < 1 {
		return cli.UsageError("--workers %d: want 1 or more", o.Workers)
	}
	quiet := cli.QuietFlag(cmd)
	stderr := cmd.ErrOrStderr()
	o.Progress, o.Args, o.Warn = new(reshape.Progress), cli.CommandArgs(cmd), cli.PartialWarning(cmd)
	if !quiet {
		o.Note = cli.NotesTo(stderr)
	}
	stop := cli.ShowProgress(cmd, cli.ReshapeGauge(o.Progress))
	report, err := work(cmd.Context())
	stop()

	var damaged *shard.DamagedError
	var unfit *reshape.UnfitError
	switch {
	case errors.As(err, &damaged), errors.As(err, &unfit):
		return cli.FaultError(err)
	case err != nil:
		return err
	case cli.JSONFlag(cmd):
		return cli.PrintJSON(cmd, report)
	}
	return printReshaped(cli.SummaryTo(cmd), out, report)
}

// detailed is a report with details of its own in the text output.
type detailed interface{ detail() string }

func printReshaped(w io.Writer, out string, report any) error {
	r, ok := report.(interface{ Common() *reshape.Report })
	if !ok {
		return fmt.Errorf("%T is not a report of a reshaping", report)
	}
	c := r.Common()
	line := fmt.Sprintf("%s %s: ", printable.String(out), c.Status)
	for i, name := range sortedNames(c.Splits) {
		if i > 0 {
			line += ", "
		}
		split := c.Splits[name]
		line += fmt.Sprintf("%s %s in %s", name, plural.Of(split.Records, "record"), plural.Of(split.Shards, "shard"))
	}
	if d, ok := report.(detailed); ok {
		line += ", " + d.detail()
	} else if c.Records != c.RecordsIn {
		line += fmt.Sprintf(", of %d", c.RecordsIn)
	}
	_, err := fmt.Fprintf(w, "%s, %s (%.2f s)\n", line, size.Format(c.Bytes), c.Seconds)
	return err
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
