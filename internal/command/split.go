package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/store/regular"
	"github.com/tfrec/tfrec/shard/reshape"
)

func newSplitCommand() *cobra.Command {
	f := new(reshapeFlags)
	var o reshape.ResplitOptions
	var list string
	cmd := &cobra.Command{
		Use:     "split IN... OUT --splits NAME=SHARE,...",
		GroupID: cli.GroupChange,
		Short:   "Assign all records to new splits",
		Long: `Write all records of IN, whatever split they are in, to a new set in OUT with
the given splits. Records keep their bytes, and their order within a split.

By default a hash of a record's bytes and --seed decides its split: shares are met
approximately, equal records stay together, and records that are added later move
no others. --by-hash hashes the value of a feature instead. --stratify meets the
shares for each value of a feature: to within one record if records have one value,
and as closely as iterative stratification (Sechidis et al. 2011) can if they have
several, such as the classes of an image's objects, of which each counts once.
--together keeps all records of a value in one split, and meets the shares as closely
as the sizes of values allow. --list gives the split of each key.

Records that lack the feature of --by-hash, --stratify or --together are treated as
having one value of their own.`,
		Example: `  tfrec split out/ parts/ --splits train=0.7,val=0.3 --seed 1
  tfrec split out/ parts/ --splits train=0.8,val=0.1,test=0.1 --stratify image/class/label
  tfrec split coco/ parts/ --splits train=0.9,val=0.1 --stratify image/object/class/label
  tfrec split scans/ parts/ --splits train=0.9,test=0.1 --together patient
  tfrec split out/ parts/ --list splits.tsv --key image/filename`,
		Annotations: map[string]string{cli.FaultsMean: damagedFaults},
		Args:        cli.MinArgs("IN...", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, out := args[:len(args)-1], args[len(args)-1]
			return f.run(cmd, out, func(ctx context.Context) (any, error) {
				o.Options = f.options
				if list != "" {
					var err error
					if o.List, err = readSplitList(list); err != nil {
						return nil, err
					}
				}
				return reshape.Resplit(ctx, in, out, o)
			})
		},
	}
	fs := cmd.Flags()
	cli.TextVar(fs, "splits", "", "NAME=SHARE,...", "the splits and their shares, such as train=0.9,val=0.1", func(s string) (err error) {
		o.Splits, err = shares.ParseSplits(s)
		return err
	})
	fs.StringVar(&o.ByHash, "by-hash", "", "assign by a hash of the value of the feature `KEY`")
	fs.StringVar(&o.Stratify, "stratify", "", "meet the shares for each value of the feature `KEY`, such as the classes of objects")
	fs.StringVar(&o.Together, "together", "", "keep all records of a value of the feature `KEY` in one split")
	fs.StringVar(&list, "list", "", "`FILE` with a key, a tab and a split per line; every record must be in it, and every key must have a record")
	fs.StringVar(&o.Key, "key", "", "`KEY` of the feature that --list matches (default: image/filename)")
	f.add(cmd)
	return cmd
}

func readSplitList(path string) (map[string]string, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--list: %w", err)
	}
	defer file.Close()
	list, err := reshape.ReadSplitList(file)
	if err != nil {
		return nil, fmt.Errorf("--list: %s: %w", path, err)
	}
	return list, nil
}
