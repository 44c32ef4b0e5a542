package command

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/text"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/diff"
)

func newDiffCommand() *cobra.Command {
	o := diff.Options{Memory: 256 << 20}
	cmd := &cobra.Command{
		Use:     "diff A B",
		GroupID: cli.GroupCheck,
		Short:   "Show in which records, features and labels two inputs differ",
		Long: `Show in which records, features and labels two inputs differ. A and B are each a
file, a glob, a directory or a manifest. Records are compared by their bytes,
however they are spread over files: split by split if both inputs have the same
splits, else all in the order of the files.

All differences are counted. The first ones are listed with their positions and, for
Examples, with the features that differ and their values; of images with boxes, with
the objects that differ, wherever in the lists they are. --unordered compares which
records exist and how often, whatever their order.

Labels and features of two manifests are compared, too. Other options of theirs are
shown where they differ, but do not count as differences.`,
		Example: `  tfrec diff old/ new/
  tfrec diff --unordered before.tfrecord shuffled/
  tfrec diff --json a/ b/ | jq .features`,
		Annotations: map[string]string{cli.FaultsMean: "the inputs differ, or have faults"},
		Args:        cli.ExactArgs("A", "B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Memory < 1e6 {
				return cli.UsageError("--memory: %d bytes are too few: want 1MB or more", o.Memory)
			}
			if o.MaxListed < 1 {
				return cli.UsageError("--max %d: want 1 or more", o.MaxListed)
			}
			o.Progress = new(shard.ReadProgress)
			stop := cli.ShowProgress(cmd, cli.ReadGauge(o.Progress))
			o.Note = cli.PartialWarning(cmd)
			report, err := diff.Compare(cmd.Context(), args[0], args[1], o)
			stop()
			if err != nil {
				return err
			}
			if cli.JSONFlag(cmd) {
				err = cli.PrintJSON(cmd, readableDiff(report))
			} else if report.Equal {
				printDiff(cli.SummaryTo(cmd), report)
			} else {
				printDiff(cmd.OutOrStdout(), report)
			}
			if err == nil && !report.Equal {
				err = cli.FaultError(errors.New("")) // all of it was printed
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&o.Unordered, "unordered", false, "compare which records exist, whatever their order")
	cli.MaxRecordVar(fs, &o.MaxRecord)
	fs.IntVar(&o.MaxListed, "max", 10, "list the first `N` differences")
	cli.TextVar(fs, "memory", "256MiB", "SIZE", "memory for --unordered; beyond it, a temporary file is used", func(s string) (err error) {
		o.Memory, err = size.Parse(s)
		return err
	})
	cli.PartialVar(cmd, &o.Partial)
	return cmd
}

// readableDiff makes paths fit for JSON.
func readableDiff(r *diff.Report) *diff.Report {
	for i := range r.Differences {
		for _, at := range []*diff.Position{r.Differences[i].A, r.Differences[i].B} {
			if at != nil {
				at.Path = jsontext.Readable(at.Path)
			}
		}
	}
	text.ReadableFaults(r.Faults)
	return r
}

// printDiff prints the differences of the manifests and of the records, and a summary.
func printDiff(w io.Writer, r *diff.Report) {
	for _, d := range r.Described {
		what := d.What
		if d.Key != "" {
			what += " " + printable.String(d.Key)
		}
		fmt.Fprintf(w, "%s: %s, and %s\n", what, orNone(d.A), orNone(d.B))
	}
	for _, d := range r.Differences {
		switch {
		case d.A == nil:
			fmt.Fprintf(w, "%s: record %d is only in B: %s\n", printable.String(d.B.Path), d.B.Record, printable.String(d.Reason))
		case d.B == nil:
			fmt.Fprintf(w, "%s: record %d is only in A: %s\n", printable.String(d.A.Path), d.A.Record, printable.String(d.Reason))
		default:
			fmt.Fprintf(w, "%s: record %d, and %s: record %d differ", printable.String(d.A.Path), d.A.Record, printable.String(d.B.Path), d.B.Record)
			if d.Reason != "" {
				fmt.Fprintf(w, ": %s", printable.String(d.Reason))
			}
			fmt.Fprintln(w)
			for _, o := range d.Objects {
				fmt.Fprintf(w, "  %s, and %s\n", orNone(o.A), orNone(o.B))
			}
			for _, f := range d.Features {
				fmt.Fprintf(w, "  %s: %s, and %s\n", printable.String(f.Key), orNone(f.A), orNone(f.B))
			}
		}
	}
	text.PrintFaults(w, r.Faults)
	for _, key := range slices.Sorted(maps.Keys(r.Features)) {
		fmt.Fprintf(w, "feature %s differs in %s\n", printable.String(key), plural.Of(r.Features[key], "record"))
	}
	fmt.Fprintf(w, "A has %s, B %s: ", plural.Of(r.RecordsA, "record"), plural.Of(r.RecordsB, "record"))
	if r.Equal {
		fmt.Fprintln(w, "equal")
		return
	}
	fmt.Fprintf(w, "%d differ, %d only in A, %d only in B\n", r.Differing, r.OnlyA, r.OnlyB)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return printable.String(s)
}
