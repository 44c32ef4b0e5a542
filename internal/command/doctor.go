package command

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/view/doctor"
)

func newDoctorCommand() *cobra.Command {
	var o doctor.Options
	cmd := &cobra.Command{
		Use:     "doctor PATH...",
		GroupID: cli.GroupCheck,
		Short:   "Say what bounds training on a set, and what to change",
		Long: `Measure each step between the files and a model on this machine, alone and for
a bounded time: reading the files (as far as possible not from memory: on Linux
they are first dropped from the page cache), decompression, framing, checksums, a
shuffle buffer, parsing of Examples, decoding and resizing of images; then all of
it together, as tfrec bench does. Nothing is written.

The verdict says whether a model that takes --batch records every --batch-time
waits for data, for what, and what to change. Damaged records are left out and
counted. Sets of images are those with the feature image/encoded.

--json prints one object. Rates are in records_per_s and mb_per_s (a million
bytes) with one goroutine, all_records_per_s and all_mb_per_s with "workers" of
them; "share" is a step's part of the processor time of a record, 0 where it has
none:
  paths, files, bytes, compression, remote,   the set, and the memory that is
  memory                                      there for it
  sample_records, sample_bytes, stored_bytes_per_record, image_pixels (a mean)
  skipped, damage                             damaged records, and the first five
  cores, cached, other_load                   share of the files in memory and
                                              processors others use; null: unknown
  batch, batch_s, size, shuffle, seconds      what was assumed, and how long it took
  steps      [{name, records_per_s, mb_per_s, all_records_per_s, all_mb_per_s,
             workers, share}]: storage decompress frame crc shuffle parse decode
  pipeline   {records_per_s, mb_per_s, bottleneck}
  verdict    {bound, needed_records_per_s, supply_records_per_s, factor, text,
             advice}; bound is a step, or model, files, processors,
             load or reader
  notes      what to keep in mind about the figures`,
		Example: `  tfrec doctor out/
  tfrec doctor --batch 256 --batch-time 180ms --size 224 photos/
  tfrec doctor --json --duration 3s 'data/*.tfrecord.gz'`,
		Annotations: map[string]string{cli.FaultsMean: "no record is intact"},
		Args:        cli.MinArgs("PATH..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := doctorFlags(o); err != nil {
				return err
			}
			o.Note = cli.PartialWarning(cmd)
			report, err := doctor.Run(cmd.Context(), args, o)
			if err != nil {
				return cli.MeasureError(cmd, err)
			}
			if cli.JSONFlag(cmd) {
				return cli.PrintJSON(cmd, report)
			}
			printDoctor(cmd.OutOrStdout(), report)
			return nil
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&o.Batch, "batch", 32, "the model takes batches of `N` records")
	fs.DurationVar(&o.BatchTime, "batch-time", 50*time.Millisecond, "the model takes a batch every `TIME`, such as 50ms")
	fs.IntVar(&o.Size, "size", 224, "the model takes images of `N`xN pixels")
	fs.IntVar(&o.Shuffle, "shuffle", 10_000, "shuffle with a buffer of `N` records, fewer if they are large")
	fs.DurationVar(&o.Duration, "duration", 10*time.Second, "measure for about `TIME`")
	cli.PartialVar(cmd, &o.Partial)
	return cmd
}

// Bounds of what doctor measures with.
const (
	maxSide     = 1 << 14
	maxDuration = 24 * time.Hour
)

func doctorFlags(o doctor.Options) error {
	switch {
	case o.Batch < 1 || o.Batch > maxBatch:
		return cli.UsageError("--batch %d: want 1 to %d", o.Batch, maxBatch)
	case o.BatchTime <= 0 || o.BatchTime > maxDuration:
		return cli.UsageError("--batch-time %v: want more than 0, such as 50ms", o.BatchTime)
	case o.Size < 1 || o.Size > maxSide:
		return cli.UsageError("--size %d: want 1 to %d", o.Size, maxSide)
	case o.Shuffle < 1 || o.Shuffle > math.MaxInt32:
		return cli.UsageError("--shuffle %d: want 1 to %d", o.Shuffle, math.MaxInt32)
	case o.Duration <= 0 || o.Duration > maxDuration:
		return cli.UsageError("--duration %v: want more than 0, such as 10s", o.Duration)
	}
	return nil
}

// stepNames are the steps in the table.
var stepNames = map[string]string{
	doctor.Storage: "read files", doctor.Decompress: "decompress", doctor.Frame: "find records", doctor.CRC: "verify checksums",
	doctor.Shuffle: "shuffle", doctor.Parse: "parse to columns", doctor.Decode: "decode and resize",
}

func printDoctor(w io.Writer, r *doctor.Report) {
	fmt.Fprintf(w, "%s, %s", plural.Of(r.Files, "file"), size.Format(r.Bytes))
	if r.Compression != "none" {
		fmt.Fprintf(w, " (%s)", r.Compression)
	}
	fmt.Fprintf(w, "; %s of about %s", plural.Of(r.SampleRecords, "record"), size.Format(r.SampleBytes/max(r.SampleRecords, 1)))
	if r.ImagePixels > 1 {
		fmt.Fprintf(w, " with images of %.2g megapixels", r.ImagePixels/1e6)
	}
	fmt.Fprintf(w, " measured in %.0f s\n\n", r.Seconds)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\tone goroutine\t\tseveral\t\t\tshare of\t\nstep\trecords/s\tMB/s\tgoroutines\trecords/s\tMB/s\tprocessor time\t\n")
	for _, s := range r.Steps {
		several, share := "-\t-\t-", "-"
		if s.Workers > 1 {
			several = fmt.Sprintf("%d\t%.0f\t%.1f", s.Workers, s.All, s.AllMB)
		}
		if s.Share > 0 {
			share = fmt.Sprintf("%.0f%%", 100*s.Share)
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.1f\t%s\t%s\t\n", stepNames[s.Name], s.One, s.OneMB, several, share)
	}
	fmt.Fprintf(table, "all together\t\t\t\t%.0f\t%.1f\t\t\n", r.Pipeline.RecordsPerSec, r.Pipeline.MBPerSec)
	table.Flush() // resultWriter keeps the error
	fmt.Fprintf(w, "\n%s.\n", r.Verdict.Text)
	if len(r.Verdict.Advice) > 0 {
		fmt.Fprintln(w, "\nWhat to change:")
		printList(w, r.Verdict.Advice)
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(w, "\nNotes:")
		printList(w, r.Notes)
	}
}

func printList(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(w, "  - %s\n", strings.TrimSpace(line))
	}
}
