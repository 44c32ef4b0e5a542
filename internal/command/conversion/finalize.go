package conversion

import (
	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command/cli"
)

func NewFinalizeCommand() *cobra.Command {
	var allowed *convert.Tolerance
	cmd := &cobra.Command{
		Use:     "finalize OUT",
		GroupID: cli.GroupMake,
		Short:   "Complete the set that the tasks of an array job wrote",
		Long: `Check that all shards of an array job (tfrec convert ... --task I --tasks N) are
in OUT and from the same plan, and write the manifest, the ledger and the metadata
that TFDS reads. The set is then byte for byte what one run without tasks makes.

Fails while tasks are running or shards are missing, and names these. Bad samples,
which never stop a task, are counted here.`,
		Example:     "  tfrec finalize out",
		Args:        cli.ExactArgs("OUT"),
		Annotations: map[string]string{cli.FaultsMean: convertFaults},
	}
	cli.TextVar(cmd.Flags(), "max-errors", "", "N|P%", "how many samples may be unusable, as a number or a percentage (default: that of the tasks)", func(s string) error {
		t, err := convert.ParseTolerance(s)
		allowed = &t
		return err
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o := convert.FinalizeOptions{MaxErrors: allowed}
		stderr := cmd.ErrOrStderr()
		if !cli.QuietFlag(cmd) {
			o.Note = cli.NotesTo(stderr)
		}
		sum, err := convert.Finalize(cmd.Context(), args[0], o)
		return printOutcome(cmd, sum, err, args[0])
	}
	return cmd
}
