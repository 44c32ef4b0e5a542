package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/shard"
)

// appendResult is what append prints.
type appendResult struct{ *shard.AppendReport }

func (r appendResult) detail() string {
	return fmt.Sprintf("%s new in %s, %d renamed", count(r.Appended, "record"), count(int64(r.ShardsWritten), "shard"), r.ShardsRenamed)
}

func newAppendCommand() *cobra.Command {
	f := new(reshapeFlags)
	var o shard.AppendOptions
	cmd := &cobra.Command{
		Use:     "append DIR [IN...]",
		GroupID: groupReshape,
		Short:   "Add records to an existing set",
		Long: `Add the records of IN to the set in DIR, in shards of their own behind those of
their split. Shards that are there keep their bytes, and are renamed to the new
total; the manifest is renewed last. Nothing may read the set meanwhile.

Features must be those of the set. Label ids are changed to fit the set's list
of names; names that it does not have are refused without --new-labels. IN are
TFRecords: pictures and tables are converted first (tfrec convert).

A run that is stopped leaves the set as it was or, when it had begun to rename,
for the next append to finish. The same command again does not add the records
twice, without --again; tfrec append DIR only finishes what was begun.`,
		Example: `  tfrec append out/ more/
  tfrec append out/ 'new-*.tfrecord' --split train --shards 2
  tfrec append out/`,
		Annotations: map[string]string{faultsMean: damagedFaults},
		Args:        minArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args[0], func(ctx context.Context) (any, error) {
				o.ReshapeOptions = f.options
				report, err := shard.Append(ctx, args[0], args[1:], o)
				return appendResult{report}, err
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.Split, "split", "", "put all records into the split `NAME` (default: the splits of IN)")
	fs.BoolVar(&o.NewLabels, "new-labels", false, "take label names that the set does not have, behind those that it has")
	fs.BoolVar(&o.Again, "again", false, "add records that were appended before, in the same shards, once more")
	f.addShards(fs)
	partialVar(cmd, &f.options.Partial)
	return cmd
}
