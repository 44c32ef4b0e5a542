package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/text"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/repair"
	"github.com/tfrec/tfrec/tfrecord"
)

func newAdoptCommand() *cobra.Command {
	var o repair.AdoptOptions
	var labels string
	cmd := &cobra.Command{
		Use:     "adopt DIR",
		GroupID: cli.GroupMake,
		Short:   "Make a set of shards that other tools wrote",
		Long: `Make a set of a directory of TFRecord files that another tool wrote: write a
manifest, indexes, and the files that TFDS reads, so that
tfds.builder_from_directory(DIR) loads it. The shards keep their bytes and names.

All records are read, and their features inferred. The split of a file is inferred
from TFDS's files or from its name (birds-train.tfrecord-00000-of-00002, or a word
such as train, test or val in it); other files are train. Label names are those
given, or found in TFDS's files, in a labels.txt, or in the records' own texts
(image/class/text next to image/class/label).

Existing TFDS files are kept, except that wrong record and byte counts are
corrected. An existing tfrec manifest is updated. TFDS can load most names of
shards; --rename changes those that it cannot, and all others that are not
NAME-SPLIT.tfrecord-00000-of-00002.`,
		Example: `  tfrec adopt shards/
  tfrec adopt shards/ --classes daisy,roses,tulips
  tfrec adopt shards/ --check --json`,
		Annotations: map[string]string{cli.FaultsMean: "the data have faults, and nothing was written; or --check found something to write"},
		Args:        cli.ExactArgs("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Workers < 1 {
				return cli.UsageError("--workers %d: want 1 or more", o.Workers)
			}
			if o.Name != "" {
				if err := shard.CheckDataset(o.Name); err != nil {
					return cli.UsageError("--name: %w", err)
				}
			}
			var err error
			if o.Labels, err = labelNames(cmd.Context(), labels); err != nil {
				return err
			}
			o.Progress = new(shard.ReadProgress)
			stop := cli.ShowProgress(cmd, cli.ReadGauge(o.Progress))
			report, err := repair.Adopt(cmd.Context(), args[0], o)
			stop()
			if err != nil {
				return err
			}
			if cli.JSONFlag(cmd) {
				text.ReadableFaults(report.Faults)
				err = cli.PrintJSON(cmd, report)
			} else {
				w := cli.SummaryTo(cmd)
				if o.Check { // the report is the purpose of --check
					w = cmd.OutOrStdout()
				}
				printAdoption(cmd.OutOrStdout(), w, report)
			}
			if err == nil && (report.Status == "damaged" || report.Status == "differs") {
				err = cli.FaultError(errors.New("")) // all of it was printed
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.Name, "name", "", "`NAME` of the dataset (default: the name found, else the directory's name in snake case)")
	fs.StringVar(&o.Label, "label-feature", "", "`KEY` of the feature with the label's id (default: one whose key ends in label)")
	cli.MaxRecordVar(fs, &o.MaxRecord)
	fs.StringVar(&labels, "classes", "", "label names in the order of their ids: `FILE|NAME,...`, a file with one per line, a label map or a list")
	fs.BoolVar(&o.Rename, "rename", false, "rename the shards as TFDS names its own")
	fs.BoolVar(&o.Check, "check", false, "write nothing, and print what would be written")
	cli.WorkersVar(fs, &o.Workers, "read `N` files at a time")
	return cmd
}

// labelNames reads --classes: a file, or a list with commas.
func labelNames(ctx context.Context, s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	if _, err := os.Stat(s); err == nil {
		return repair.ReadLabels(ctx, s)
	}
	if !strings.Contains(s, ",") {
		return nil, cli.UsageError("--classes %q: no such file, and not a comma-separated list", s)
	}
	names := strings.Split(s, ",")
	seen := map[string]bool{}
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if names[i] == "" || seen[names[i]] {
			return nil, cli.UsageError("--classes %q: name %d is empty or given twice", s, i+1)
		}
		seen[names[i]] = true
	}
	return names, nil
}

// printAdoption prints faults, which have a writer of their own, then what was found
// and what was done.
func printAdoption(faults, w io.Writer, r *repair.AdoptReport) {
	text.PrintFaults(faults, r.Faults)
	for _, note := range r.Notes {
		fmt.Fprintln(w, note)
	}
	if r.Status == "damaged" {
		then := ""
		if slices.ContainsFunc(r.Faults, func(f shard.Fault) bool { return f.Part == tfrecord.PartMissing }) {
			then = "; fetch or make the missing shards, then run tfrec adopt again"
		}
		fmt.Fprintf(w, "%s: nothing was written%s\n", plural.Of(len(r.Faults), "fault"), then)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.Splits)) {
		s := r.Splits[name]
		fmt.Fprintf(w, "%s-%s: %s in %s\n", r.Name, name, plural.Of(s.Records, "record"), plural.Of(s.Shards, "shard"))
	}
	for _, c := range r.Changes {
		switch c.Was {
		case "missing":
			fmt.Fprintf(w, "new      %s\n", printable.String(c.File))
		case "other":
			fmt.Fprintf(w, "renewed  %s\n", printable.String(c.File))
		default:
			fmt.Fprintf(w, "renamed  %s to %s\n", printable.String(c.Was), printable.String(c.File))
		}
	}
	says := map[string]string{
		"written": "written", "up_to_date": "everything is up to date", "differs": "nothing was written: --check",
	}
	load := "; tfds.builder_from_directory can load it"
	if !r.TFDS {
		load = ""
	}
	fmt.Fprintf(w, "%s, %s: %s%s\n", plural.Of(r.Records, "record"), size.Format(r.Bytes), says[r.Status], load)
}
