package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/shard/reshape"
)

func newSampleCommand() *cobra.Command {
	f := new(reshapeFlags)
	var o reshape.SampleOptions
	cmd := &cobra.Command{
		Use:     "sample IN... OUT (--count N | --share P)",
		GroupID: cli.GroupChange,
		Short:   "Take a random sample of the records",
		Long: `Write a random sample of the records to a new set in OUT, unchanged and in their
order and splits. All samples of a size are equally likely; --count and --share
count over all splits.`,
		Example: `  tfrec sample out/ small/ --count 1000 --seed 1
  tfrec sample out/ tenth/ --share 10%`,
		Annotations: map[string]string{cli.FaultsMean: damagedFaults},
		Args:        cli.MinArgs("IN...", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, out := args[:len(args)-1], args[len(args)-1]
			return f.run(cmd, out, func(ctx context.Context) (any, error) {
				o.Options = f.options
				return reshape.Sample(ctx, in, out, o)
			})
		},
	}
	fs := cmd.Flags()
	fs.Int64Var(&o.Count, "count", 0, "take `N` records")
	cli.TextVar(fs, "share", "", "P", "the share of the records to take, such as 0.1 or 10%", func(s string) (err error) {
		o.Share, err = shares.ParseShare(s)
		return err
	})
	f.add(cmd)
	return cmd
}

func newTakeCommand() *cobra.Command {
	f := new(reshapeFlags)
	var o reshape.TakeOptions
	cmd := &cobra.Command{
		Use:     "take IN... OUT --count N",
		GroupID: cli.GroupChange,
		Short:   "Take the first records",
		Long: `Write the first records of IN to a new set in OUT, in their splits: those of the
first file, then of the next, in the order of the arguments and of the files'
names. With --skip, the first ones are skipped.`,
		Example: `  tfrec take out/ first/ --count 100
  tfrec take big.tfrecord rest/ --skip 1000`,
		Annotations: map[string]string{cli.FaultsMean: damagedFaults},
		Args:        cli.MinArgs("IN...", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, out := args[:len(args)-1], args[len(args)-1]
			return f.run(cmd, out, func(ctx context.Context) (any, error) {
				o.Options = f.options
				return reshape.Take(ctx, in, out, o)
			})
		},
	}
	fs := cmd.Flags()
	fs.Int64Var(&o.Count, "count", 0, "take at most `N` records (default: all that --skip leaves)")
	fs.Int64Var(&o.Skip, "skip", 0, "skip the first `N` records")
	f.add(cmd)
	return cmd
}
