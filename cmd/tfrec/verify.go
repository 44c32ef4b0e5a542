package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/shard"
)

func newVerifyCommand() *cobra.Command {
	var o shard.VerifyOptions
	cmd := &cobra.Command{
		Use:     "verify PATH...",
		GroupID: groupLook,
		Short:   "Check every record, and sets against their manifests",
		Long: `Check every record's checksums and list all faults, each with its file, record
number and offset. It works on any TFRecord file, event files included.

A set with a manifest is held to it: number of records and SHA-256 of each
shard, the indexes, shards that are missing, files that do not belong, that
records are the Examples that the manifest promises, the numbers of records of
each label, and what TFDS's files say.`,
		Example: `  tfrec verify out/
  tfrec verify --examples 'data/*.tfrecord'
  tfrec verify --json out/ | jq '.faults[]'`,
		Annotations: map[string]string{faultsMean: "the data have faults"},
		Args:        minArgs("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Workers < 1 {
				return usageError("--workers %d: want 1 or more", o.Workers)
			}
			if o.MaxFaults < 1 {
				return usageError("--max-faults %d: want 1 or more", o.MaxFaults)
			}
			report, err := shard.Verify(cmd.Context(), args, o)
			if cmd.Context().Err() != nil || err != nil && len(report.Files) == 0 {
				return err
			}
			if jsonFlag(cmd) {
				err = errors.Join(err, printJSON(cmd, readableReport(report)))
			} else {
				printReport(cmd.OutOrStdout(), report)
			}
			if err == nil && !report.OK {
				err = faultError(errors.New("")) // all of it was printed
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&o.Examples, "examples", false, "parse every record as a tf.train.Example")
	fs.IntVar(&o.Workers, "workers", runtime.GOMAXPROCS(0), "how many files are read at a time")
	fs.IntVar(&o.MaxFaults, "max-faults", 1000, "list at most `N` faults of each file, and count the others")
	return cmd
}

// readableReport makes paths fit for JSON.
func readableReport(r *shard.Report) *shard.Report {
	for i := range r.Files {
		r.Files[i].Path = shard.Readable(r.Files[i].Path)
	}
	readableFaults(r.Faults)
	return r
}

func readableFaults(faults []shard.Fault) {
	for i := range faults {
		faults[i].Path = shard.Readable(faults[i].Path)
	}
}

// printReport prints a line for each file, the faults, and a summary.
func printReport(w io.Writer, r *shard.Report) {
	var bad int
	var bytes int64
	for _, f := range r.Files {
		word := "ok "
		if !f.OK {
			word = "BAD"
			bad++
		}
		bytes += f.Bytes
		fmt.Fprintf(w, "%s  %s  %s, %s", word, f.Path, count(f.Records, "record"), formatBytes(f.Bytes))
		if f.Compression != "none" {
			fmt.Fprintf(w, ", %s", f.Compression)
		}
		fmt.Fprintln(w)
	}
	printFaults(w, r.Faults)
	for _, f := range r.Files {
		if f.FaultsOmitted > 0 {
			fmt.Fprintf(w, "%s: %s more, not listed\n", f.Path, count(f.FaultsOmitted, "fault"))
		}
	}
	fmt.Fprintf(w, "%s, %s, %s: ", count(int64(len(r.Files)), "file"), count(r.Records, "record"), formatBytes(bytes))
	switch {
	case r.OK:
		fmt.Fprintln(w, "no faults")
	case bad == 0:
		fmt.Fprintln(w, count(int64(len(r.Faults)), "fault"))
	default:
		fmt.Fprintf(w, "%s, %s bad\n", count(int64(len(r.Faults)), "fault"), count(int64(bad), "file"))
	}
}

func printFaults(w io.Writer, faults []shard.Fault) {
	for _, f := range faults {
		fmt.Fprintf(w, "%s: ", f.Path)
		if f.Record >= 0 {
			fmt.Fprintf(w, "record %d at byte %d: ", f.Record, f.Offset)
		}
		fmt.Fprintf(w, "%s: %s\n", f.Part, f.Message)
	}
}
