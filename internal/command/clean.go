package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/shard/repair"
)

func newCleanCommand() *cobra.Command {
	var o repair.CleanOptions
	cmd := &cobra.Command{
		Use:     "clean OUT...",
		GroupID: cli.GroupCheck,
		Short:   "List, or remove, what killed runs left in their directories",
		Long: `List what killed runs left in their output directories, and with --force remove it:
temporary files below .tfrec, files staged for an update that did not complete, and, in
object stores, claims of dead processes and unfinished uploads, which cost money and
appear in no list of objects.

The run itself would reuse staged files. An update that was interrupted while it replaced
the old files is completed first.

Nothing else is ever removed: of uploads, only those of files that the directory's
manifest or state names. The next run into the directory does the same; this verb is
for directories without a next run.

Fails while a run is writing to the directory. In an object store it may take a minute
to find out whether a run is still alive.`,
		Example: `  tfrec clean out/
  tfrec clean --force s3://bucket/sets/flowers`,
		Args: cli.MinArgs("OUT..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			stderr := cmd.ErrOrStderr()
			if !cli.QuietFlag(cmd) {
				o.Note = cli.NotesTo(stderr)
			}
			var result struct {
				Directories []*repair.CleanReport `json:"folders"`
			}
			result.Directories = []*repair.CleanReport{}
			var failed error
			for _, out := range args {
				report, err := repair.Clean(cmd.Context(), out, o)
				if err != nil {
					failed = errors.Join(failed, err)
					continue
				}
				if !cli.JSONFlag(cmd) {
					w := cli.SummaryTo(cmd)
					if !o.Remove && len(report.Left) > 0 { // the list is the purpose
						w = cmd.OutOrStdout()
					}
					printLeftovers(w, report)
				}
				report.Dir = jsontext.Readable(report.Dir)
				for i := range report.Left {
					report.Left[i].Name = jsontext.Readable(report.Left[i].Name)
				}
				result.Directories = append(result.Directories, report)
			}
			if cli.JSONFlag(cmd) {
				failed = errors.Join(failed, cli.PrintJSON(cmd, result))
			}
			return failed
		},
	}
	cmd.Flags().BoolVar(&o.Remove, "force", false, "remove what is listed")
	return cmd
}

// printLeftovers prints a line for each thing that is left in a directory, and a summary.
func printLeftovers(w io.Writer, r *repair.CleanReport) {
	for _, l := range r.Left {
		takes := "-"
		if l.Bytes > 0 {
			takes = size.Format(l.Bytes)
		}
		fmt.Fprintf(w, "%-9s  %s  %9s  %s\n", l.Kind, l.Begun.Local().Format("2006-01-02 15:04"), takes, printable.String(l.Name))
	}
	switch {
	case len(r.Left) == 0:
		fmt.Fprintf(w, "%s: nothing is left of killed runs\n", printable.String(r.Dir))
	case r.Removed:
		fmt.Fprintf(w, "%s: %s removed\n", r.Dir, plural.Of(len(r.Left), "leftover"))
	default:
		fmt.Fprintf(w, "%s: %s; --force removes them\n", r.Dir, plural.Of(len(r.Left), "leftover"))
	}
}
