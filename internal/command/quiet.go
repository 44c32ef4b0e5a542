package command

import (
	"io"

	"github.com/spf13/cobra"
)

// With --quiet a verb prints what it was asked to show and what is wrong with the data, and nothing
// else: records, figures, differences, plans, faults, lost records. That a set was written or a
// file is in order is not a result: exit code 0 says it.

// summaryTo is where a verb says what it did and that all is well.
func summaryTo(cmd *cobra.Command) io.Writer {
	if quietFlag(cmd) {
		return io.Discard
	}
	return cmd.OutOrStdout()
}
