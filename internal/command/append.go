package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/shard/reshape"
)

// appendResult is the output of append.
type appendResult struct{ *reshape.AppendReport }

func (r appendResult) detail() string {
	return fmt.Sprintf("%s new in %s, %d renamed", plural.Of(r.Appended, "record"), plural.Of(r.ShardsWritten, "shard"), r.ShardsRenamed)
}

func newAppendCommand() *cobra.Command {
	f := new(reshapeFlags)
	var o reshape.AppendOptions
	cmd := &cobra.Command{
		Use:     "append DIR [IN...]",
		GroupID: cli.GroupMake,
		Short:   "Add records to an existing set",
		Long: `Add the records of IN to the set in DIR, in new shards after those of their
split. Existing shards keep their bytes, and are renamed to the new total; the
manifest is replaced last. Nothing may read the set in the meantime. In an object
store, which cannot rename, existing shards are copied, and readers find the old set
until the manifest is replaced.

Features must be those of the set. Label ids are changed to fit the set's list of
names; names that it does not have are refused without --new-labels. IN are
TFRecords: convert images and tables first (tfrec convert).

An interrupted run leaves the set as it was or, if it had begun to rename, for the
next append to complete. Repeating a command does not add the records twice unless
--again is given; tfrec append DIR only completes an interrupted append.`,
		Example: `  tfrec append out/ more/
  tfrec append out/ 'new-*.tfrecord' --split train --shards 2
  tfrec append out/`,
		Annotations: map[string]string{cli.FaultsMean: damagedFaults},
		Args:        cli.MinArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args[0], func(ctx context.Context) (any, error) {
				o.Options = f.options
				report, err := reshape.Append(ctx, args[0], args[1:], o)
				return appendResult{report}, err
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.Split, "split", "", "put all records into the split `NAME` (default: the splits of IN)")
	fs.BoolVar(&o.SameLabels, "same-labels", false, "IN has no label names: its label ids are those of the set")
	fs.BoolVar(&o.NewLabels, "new-labels", false, "accept label names that the set does not have, and add them after its own")
	fs.BoolVar(&o.Again, "again", false, "append records again that were appended before, in the same shards")
	f.addShards(fs)
	cli.PartialVar(cmd, &f.options.Partial)
	return cmd
}
