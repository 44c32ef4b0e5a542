package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/repair"
)

func newIndexCommand() *cobra.Command {
	var o repair.IndexOptions
	cmd := &cobra.Command{
		Use:     "index PATH...",
		GroupID: groupLook,
		Short:   "Build the indexes of TFRecord files",
		Long: `Build the index of every file that has none: a line per record with the offset and
size of its frame, in a directory named index next to the file, as DALI and the
tfrecord package for Python read it. Compressed files have no index.

An existing index is kept, and not checked: --check compares it with its file and
writes nothing, --force rebuilds it. Damaged files get no index.`,
		Example: `  tfrec index 'data/*.tfrecord'
  tfrec index --check out/`,
		Annotations: map[string]string{faultsMean: "the data have faults, or --check found an index wrong or missing"},
		Args:        minArgs("PATH..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Workers < 1 {
				return usageError("--workers %d: want 1 or more", o.Workers)
			}
			if o.Force && o.Check {
				return usageError("--force writes and --check does not: give one of them")
			}
			o.Progress = new(shard.ReadProgress)
			stop := showProgress(cmd.ErrOrStderr(), readGauge(o.Progress), quietFlag(cmd))
			o.Note = partialWarning(cmd)
			report, err := repair.Index(cmd.Context(), args, o)
			stop()
			if report == nil {
				return err
			}
			if jsonFlag(cmd) {
				for i := range report.Files {
					f := &report.Files[i]
					f.Path, f.Index = jsontext.Readable(f.Path), jsontext.Readable(f.Index)
				}
				readableFaults(report.Faults)
				err = errors.Join(err, printJSON(cmd, report))
			} else {
				printIndexes(cmd.OutOrStdout(), summaryTo(cmd), report)
			}
			if err == nil && !report.OK {
				err = faultError(errors.New("")) // all of it was printed
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&o.Force, "force", false, "rebuild existing indexes")
	fs.BoolVar(&o.Check, "check", false, "compare indexes with their files, and write nothing")
	maxRecordVar(fs, &o.MaxRecord)
	workersVar(fs, &o.Workers, "read `N` files at a time")
	partialVar(cmd, &o.Partial)
	return cmd
}

// printIndexes prints a line for each file, the faults, which have a writer of their
// own, and a summary.
func printIndexes(faults, w io.Writer, r *repair.IndexReport) {
	for _, f := range r.Files {
		if f.Status != "" { // a file that could not be read
			fmt.Fprintf(w, "%-7s  %s\n", f.Status, printable.String(f.Path))
		}
	}
	printFaults(faults, r.Faults)
	fmt.Fprintf(w, "%s, %d built, %s\n", plural.Of(len(r.Files), "file"), r.Built, plural.Of(len(r.Faults), "fault"))
}
