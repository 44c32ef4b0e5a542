package command

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/repair"
	"github.com/tfrec/tfrec/tfrecord"
)

func newRepairCommand() *cobra.Command {
	var o repair.Options
	var inPlace bool
	var compression string
	cmd := &cobra.Command{
		Use:     "repair IN OUT",
		GroupID: cli.GroupCheck,
		Short:   "Save every intact record of damaged files",
		Long: `Save every intact record of a damaged file or of the files of a directory: all
those whose two checksums match. After damage, repair continues with the next
record that it can find.

IN is a file and OUT a new file, or IN is a directory or a manifest and OUT a new
directory. In a directory, files without damage are copied byte for byte; indexes,
the manifest and TFDS's files are updated. What was lost goes into OUT.quarantine,
a TFRecord file of Examples with the damaged bytes, their positions and the reason.
The same repair again prints the same report.

With --in-place there is no OUT: damaged files are replaced, and their originals
kept in a directory named damaged next to them, with their indexes and quarantines.
Wrong and missing indexes are rebuilt. Replaced files keep mode, owner and group. A
set changes in one step; if that is interrupted, the same command completes it. What
was lost is reported by the next run where an interrupted one could not.

IN may be a URL, OUT may not: look at what was lost before the set is published, and put
it into a new directory of the store with tfrec merge.

With an index or a manifest, repair knows how many records were lost, and does not
mistake frames inside a damaged record for records of the file. Compressed files
are read as far as they can be decompressed, and again from the next stream if a
file has several.`,
		Example: `  tfrec repair broken.tfrecord saved.tfrecord
  tfrec repair out/ repaired/
  tfrec repair --in-place out/
  tfrec cat saved.tfrecord.quarantine`,
		Annotations: map[string]string{cli.FaultsMean: "something was lost; the rest is saved"},
		Args: func(cmd *cobra.Command, args []string) error {
			if inPlace {
				return cli.ExactArgs("IN")(cmd, args)
			}
			return cli.ExactArgs("IN", "OUT")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.Compression, err = tfrecord.ParseCompression(compression); err != nil {
				return cli.UsageError("--compression: %w", err)
			}
			if o.MaxDamage < 1 {
				return cli.UsageError("--max-damage %d: want 1 or more", o.MaxDamage)
			}
			o.Progress = new(shard.ReadProgress)
			stop := sync.OnceFunc(cli.ShowProgress(cmd, cli.ReadGauge(o.Progress)))
			defer stop()
			o.Note = cli.PartialWarning(cmd)
			o.Deliver = func(report *repair.Report) error {
				stop()
				if cli.JSONFlag(cmd) {
					return cli.PrintJSON(cmd, report.Readable())
				}
				printRepair(cmd.OutOrStdout(), cli.SummaryTo(cmd), report)
				_, err := cmd.OutOrStdout().Write(nil) // the first error of all writes
				return err
			}
			var report *repair.Report
			if inPlace {
				report, err = repair.InPlace(cmd.Context(), args[0], o)
			} else {
				report, err = repair.Copy(cmd.Context(), args[0], args[1], o)
			}
			switch {
			case errors.Is(err, repair.ErrNothingSaved):
				return cli.FaultError(err)
			case err == nil && report.Lost():
				return cli.FaultError(errors.New("")) // all of it was printed
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&inPlace, "in-place", false, "replace damaged files and wrong indexes, and keep the originals in a directory named damaged")
	cli.WordVar(fs, &compression, "compression", "auto", "KIND", "how the input is compressed: auto, none, gzip, zlib or zstd", append([]string{"auto"}, shares.Compressions...)...)
	cli.MaxRecordVar(fs, &o.MaxRecord)
	fs.IntVar(&o.MaxDamage, "max-damage", 1000, "list at most `N` stretches of damage of each file, and count the others")
	cli.PartialVar(cmd, &o.Partial)
	return cmd
}

// printRepair prints a line for each stretch of damage, which have a writer of their
// own, and for each damaged file, and a summary.
func printRepair(faults, w io.Writer, r *repair.Report) {
	for _, d := range r.Damage {
		what := "byte"
		if d.Compressed {
			what = "compressed byte"
		}
		fmt.Fprintf(faults, "%s: %s at %s %d: %s (%s)\n", printable.String(d.Path), size.Format(d.Bytes), what, d.Offset, printable.String(d.Reason), lostRecords(d.Records, d.Exact))
	}
	if r.DamageOmitted > 0 {
		fmt.Fprintf(faults, "%s more, not listed\n", plural.Of(r.DamageOmitted, "stretch of damage"))
	}
	for _, f := range r.Files {
		if f.Index != "" {
			fmt.Fprintf(w, "%s: its index was %s: rebuilt\n", f.Path, f.Index)
		}
		if f.Note != "" {
			fmt.Fprintf(faults, "%s: %s\n", printable.String(f.Path), f.Note)
		}
		if f.Original != "" {
			fmt.Fprintf(w, "%s: original kept in %s\n", printable.String(f.Path), printable.String(f.Original))
		}
	}
	if r.Quarantine != "" {
		fmt.Fprintf(w, "what was lost is in %s\n", printable.String(r.Quarantine))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	fmt.Fprintf(w, "%s, %s saved", plural.Of(len(r.Files), "file"), plural.Of(r.RecordsSaved, "record"))
	switch {
	case r.Status == "clean":
		fmt.Fprintln(w, ", no damage found")
		return
	case !r.Lost():
		fmt.Fprintln(w, ", nothing was lost")
		return
	}
	fmt.Fprintf(w, ", %s, %s lost\n", lostRecords(r.RecordsLost, r.RecordsLostExact), size.Format(r.BytesLost))
}

func lostRecords(n int64, exact bool) string {
	text := plural.Of(n, "record") + " lost"
	if !exact {
		text = "at least " + text
	}
	return text
}
