package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/text"
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
		GroupID: cli.GroupMake,
		Short:   "Build the indexes of TFRecord files",
		Long: `Build the index of every file that has none: a line per record with the offset and
size of its frame, in a directory named index next to the file, as DALI and the
tfrecord package for Python read it. Compressed files have no index.

An existing index is kept, and not checked: --check compares it with its file and
writes nothing, --force rebuilds it. Damaged files get no index.`,
		Example: `  tfrec index 'data/*.tfrecord'
  tfrec index --check out/`,
		Annotations: map[string]string{cli.FaultsMean: "the data have faults, or --check found an index wrong or missing"},
		Args:        cli.MinArgs("PATH..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Workers < 1 {
				return cli.UsageError("--workers %d: want 1 or more", o.Workers)
			}
			if o.Force && o.Check {
				return cli.UsageError("--force writes and --check does not: give one of them")
			}
			o.Progress = new(shard.ReadProgress)
			stop := cli.ShowProgress(cmd, cli.ReadGauge(o.Progress))
			o.Note = cli.PartialWarning(cmd)
			report, err := repair.Index(cmd.Context(), args, o)
			stop()
			if report == nil {
				return err
			}
			if cli.JSONFlag(cmd) {
				for i := range report.Files {
					f := &report.Files[i]
					f.Path, f.Index = jsontext.Readable(f.Path), jsontext.Readable(f.Index)
				}
				text.ReadableFaults(report.Faults)
				err = errors.Join(err, cli.PrintJSON(cmd, report))
			} else {
				printIndexes(cmd.OutOrStdout(), cli.SummaryTo(cmd), report)
			}
			if err == nil && !report.OK {
				err = cli.FaultError(errors.New("")) // all of it was printed
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&o.Force, "force", false, "rebuild existing indexes")
	fs.BoolVar(&o.Check, "check", false, "compare indexes with their files, and write nothing")
	cli.MaxRecordVar(fs, &o.MaxRecord)
	cli.WorkersVar(fs, &o.Workers, "read `N` files at a time")
	cli.PartialVar(cmd, &o.Partial)
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
	text.PrintFaults(faults, r.Faults)
	fmt.Fprintf(w, "%s, %d built, %s\n", plural.Of(len(r.Files), "file"), r.Built, plural.Of(len(r.Faults), "fault"))
}
