package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/shard/reshape"
)

func newFeaturesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "features",
		GroupID: cli.GroupChange,
		Short:   "Select, drop or rename features",
		Long: `Write all records to a new set with fewer or renamed features. What remains keeps
its bytes: nothing is decoded.`,
	}
	cmd.AddCommand(
		newFeaturesVerb("select", "Keep only some features",
			`Write all records to a new set in OUT with only the features that --keys names.`,
			`  tfrec features select out/ small/ --keys image/encoded,image/class/label
  tfrec features select out/ small/ --keys 'image/*'`, reshape.SelectFeatures),
		newFeaturesVerb("drop", "Drop some features",
			`Write all records to a new set in OUT without the features that --keys names.`,
			`  tfrec features drop out/ small/ --keys 'augment/*'`, reshape.DropFeatures),
		newFeaturesRenameCommand(),
	)
	return cmd
}

// reshapeKeys is the operation of select and drop.
type reshapeKeys func(ctx context.Context, in []string, out string, keys []string, o reshape.Options) (*reshape.Report, error)

const keysHelp = `

In a key, * matches any text. A key that no record has is an error before anything
is written. The features in the manifest and in TFDS's files are updated.`

func newFeaturesVerb(name, short, long, example string, work reshapeKeys) *cobra.Command {
	f := new(reshapeFlags)
	var keys []string
	cmd := &cobra.Command{
		Use:         name + " IN... OUT --keys KEY,...",
		Short:       short,
		Long:        long + keysHelp,
		Example:     example,
		Annotations: map[string]string{cli.FaultsMean: damagedFaults},
		Args:        cli.MinArgs("IN...", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, out := args[:len(args)-1], args[len(args)-1]
			return f.run(cmd, out, func(ctx context.Context) (any, error) {
				return work(ctx, in, out, keys, f.options)
			})
		},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&keys, "keys", nil, "the features `KEY,...` (repeatable)")
	f.add(cmd)
	return cmd
}

func newFeaturesRenameCommand() *cobra.Command {
	f := new(reshapeFlags)
	var pairs []string
	cmd := &cobra.Command{
		Use:   "rename IN... OUT --keys OLD=NEW,...",
		Short: "Rename features",
		Long: `Write all records to a new set in OUT with features renamed. A * in OLD matches any
text, which replaces the * in NEW. A key that no record has, or two features that
would get the same key, are an error before anything is written. The features in
the manifest and in TFDS's files are updated.`,
		Example: `  tfrec features rename out/ renamed/ --keys image/class/label=label,image/encoded=image
  tfrec features rename out/ renamed/ --keys 'image/*=img/*'`,
		Annotations: map[string]string{cli.FaultsMean: damagedFaults},
		Args:        cli.MinArgs("IN...", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var names []reshape.RenameFeature
			for _, pair := range pairs {
				from, to, ok := cli.CutLast(pair, "=")
				if !ok {
					return cli.UsageError("--keys %q: want OLD=NEW", pair)
				}
				names = append(names, reshape.RenameFeature{From: from, To: to})
			}
			in, out := args[:len(args)-1], args[len(args)-1]
			return f.run(cmd, out, func(ctx context.Context) (any, error) {
				return reshape.RenameFeatures(ctx, in, out, names, f.options)
			})
		},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&pairs, "keys", nil, "new keys: `OLD=NEW,...` (repeatable)")
	f.add(cmd)
	return cmd
}
