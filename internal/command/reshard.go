package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/shard/reshape"
)

func newReshardCommand(e *Engine) *cobra.Command {
	f := new(reshapeFlags)
	var o reshape.ReshardOptions
	reshard := reshape.Reshard
	if e != nil && e.Reshard != nil {
		reshard = e.Reshard
	}
	cmd := &cobra.Command{
		Use:     "reshard IN... OUT",
		GroupID: cli.GroupChange,
		Short:   "Rewrite records into other shards, optionally shuffled or sorted",
		Long: `Write all records of IN to a new set in OUT with other shards. Records keep their
bytes, their splits and, without --shuffle or --sort-by, their order: that of the
arguments, of the files' names, and of the files. Files without a manifest are of the
split that their names state (val.record), else of train. Inputs without a common
schema are an error without --union.

--shuffle shuffles the records of each split over all of its shards: all orders are
equally likely. --sort-by sorts them by the value of a feature: numbers from the
smallest to the largest, NaN after them, and bytes one by one. Records of equal
values keep their order. --group-by makes a set of the records of each value of a
feature, in a directory of that name in OUT.
Records that exceed --memory are spilled to OUT or, if that is a URL, to the
system's temporary directory.`,
		Example: `  tfrec reshard out/ fewer/ --shards 8
  tfrec reshard 'old-*.tfrecord.gz' out/ --name birds --shuffle --seed 1
  tfrec reshard out/ sorted/ --sort-by image/width --records-per-shard 1000
  tfrec reshard out/ bylabel/ --group-by image/class/text`,
		Annotations: map[string]string{cli.FaultsMean: damagedFaults},
		Args:        cli.MinArgs("IN...", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if e != nil {
				if err := e.Allows(cmd); err != nil {
					return err
				}
			}
			in, out := args[:len(args)-1], args[len(args)-1]
			return f.run(cmd, out, func(ctx context.Context) (any, error) {
				o.Options = f.options
				return reshard(ctx, in, out, o)
			})
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&o.Shuffle, "shuffle", false, "shuffle the records of each split")
	fs.StringVar(&o.SortBy, "sort-by", "", "sort the records of each split by the first value of the feature `KEY`; those without one come last")
	fs.StringVar(&o.GroupBy, "group-by", "", "make a set of the records of each value of the feature `KEY`")
	f.add(cmd)
	if e != nil && e.Reshard != nil {
		e.AddFlags(fs)
	}
	return cmd
}

func newMergeCommand() *cobra.Command {
	f := new(reshapeFlags)
	cmd := &cobra.Command{
		Use:     "merge IN... OUT",
		GroupID: cli.GroupChange,
		Short:   "Merge several sets into one",
		Long: `Write all records of several sets or files to one new set in OUT: splits with the
same name become one, in the order of the arguments. Records keep their bytes. Files
without a manifest are of the split that their names state, else of train.

A feature that each record of an input has must be in all inputs, unless --union is
given, and features of one key must be of one kind. Where the sets' lists of
label names differ, the new set has all names in sorted order, and the label ids
in the records are changed to fit; sets without names are refused then.`,
		Example: `  tfrec merge monday/ tuesday/ week/
  tfrec merge 'day-*/' week/ --name week`,
		Annotations: map[string]string{cli.FaultsMean: damagedFaults},
		Args:        cli.MinArgs("IN...", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, out := args[:len(args)-1], args[len(args)-1]
			return f.run(cmd, out, func(ctx context.Context) (any, error) {
				return reshape.Merge(ctx, in, out, f.options)
			})
		},
	}
	f.add(cmd)
	return cmd
}
