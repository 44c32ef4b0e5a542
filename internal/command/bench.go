package command

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/view/readbench"
)

func newBenchCommand() *cobra.Command {
	var o readbench.Options
	var size, cache string
	var seconds float64
	cmd := &cobra.Command{
		Use:     "bench PATH...",
		GroupID: cli.GroupUse,
		Short:   "Measure how fast TFRecord files can be read",
		Long: `Measure how fast package reader delivers batches from files: of raw records, of
columns (--parse), or of decoded images (--decode). Everything is read at least
once, with full checksums, and again until --seconds have passed; from the second
pass on, the operating system may serve the files from memory.

Files are interleaved record by record, 16 at a time, in tf.data's order. With
--cache, later passes read what the first one cached; so does the first, if the
directory holds a cache already.

For each stage, the output lists its elements, the seconds that its workers were
busy, waited for input, and were blocked by the next stage, the seconds that the
next stage waited for it, and the number of workers and length of the queue as
last tuned; a sentence names the bottleneck. Records are those of whole passes
over the data, plus the part of the last pass before the time ran out.`,
		Example: `  tfrec bench out/
  tfrec bench --parse --shuffle 10000 --batch 1024 'data/*.tfrecord'
  tfrec bench --decode --resize 224x224 --batch 32 photos/`,
		Annotations: map[string]string{cli.FaultsMean: "the data have faults"},
		Args:        cli.MinArgs("PATH..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := benchFlags(cmd, &o, size, seconds); err != nil {
				return err
			}
			o.Cache = cacheOptions(cache)
			o.Note = cli.PartialWarning(cmd)
			res, err := readbench.Run(cmd.Context(), args, o)
			if err != nil {
				return cli.MeasureError(cmd, err)
			}
			if cli.JSONFlag(cmd) {
				return cli.PrintJSON(cmd, res)
			}
			printBench(cmd.OutOrStdout(), res)
			return nil
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&o.Parse, "parse", false, "parse the records into columns")
	fs.BoolVar(&o.Decode, "decode", false, "decode the images in the records to float32; needs --resize")
	fs.StringVar(&size, "resize", "", "size of the decoded images: `WxH|N`, N for a centre crop to NxN")
	fs.IntVar(&o.Batch, "batch", 1, "make batches of `N` records")
	fs.IntVarP(&o.Workers, "workers", "j", 0, "use `N` goroutines (default: tuned while running)")
	fs.IntVar(&o.Shuffle, "shuffle", 0, "shuffle with a buffer of `N` records (default: none)")
	cli.CacheVar(fs, &cache, "cache the records in DIR, or in memory, for the passes after the first")
	fs.Float64Var(&seconds, "seconds", 2, "read for `N` seconds; 0 reads everything once")
	cli.PartialVar(cmd, &o.Partial)
	return cmd
}

// Bounds of flags, beyond which a bench would measure its own memory.
const (
	maxBatch   = 1 << 16
	maxWorkers = 1 << 10
)

// benchFlags checks the flags and fills in the options that are not a flag's
// own.
func benchFlags(cmd *cobra.Command, o *readbench.Options, size string, seconds float64) error {
	switch {
	case o.Parse && o.Decode:
		return cli.UsageError("--parse and --decode: give one of them")
	case o.Decode != cmd.Flags().Changed("resize"):
		return cli.UsageError("--decode and --resize go together: a batch has images of one size")
	case o.Batch < 1 || o.Batch > maxBatch:
		return cli.UsageError("--batch %d: want 1 to %d", o.Batch, maxBatch)
	case (o.Workers != 0 || cmd.Flags().Changed("workers")) && (o.Workers < 1 || o.Workers > maxWorkers):
		return cli.UsageError("--workers %d: want 1 to %d", o.Workers, maxWorkers)
	case o.Shuffle < 0:
		return cli.UsageError("--shuffle %d: want 0 or more", o.Shuffle)
	case !(seconds >= 0 && seconds <= math.MaxInt32):
		return cli.UsageError("--seconds %v: want 0 or more", seconds)
	}
	o.For = time.Duration(seconds * float64(time.Second))
	if o.Decode {
		spec, err := augment.ParseSize(size)
		if err != nil {
			return cli.UsageError("--resize: %w", err)
		}
		o.Resize = spec
	}
	return nil
}

func printBench(w io.Writer, r *readbench.Result) {
	passes := plural.Of(r.Passes, "pass")
	if r.CutOff > 0 {
		passes += " and " + plural.Of(r.CutOff, "record")
	}
	fmt.Fprintf(w, "%s in %.2f s (%s): %.0f records/s, %s/s\n\n", plural.Of(r.Records, "record"), r.Seconds, passes, r.RecordsPerSec, size.Format(int64(r.MBPerSec*1e6)))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "stage\telements\tbusy s\twaiting for input s\tblocked by output s\twaited for s\tworkers\tqueue\t")
	chosen := 0
	for _, s := range r.Stages {
		workers, queue := fmt.Sprint(s.Workers), "-"
		if s.QueueSize > 0 {
			queue = fmt.Sprint(s.QueueSize)
		}
		if s.Auto {
			workers += "*"
			chosen++
		}
		fmt.Fprintf(table, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%s\t%s\t\n",
			s.Name, s.Elements, s.Busy, s.WaitInput, s.BlockedOutput, s.Awaited, workers, queue)
	}
	table.Flush() // resultWriter keeps the error
	if chosen > 0 {
		fmt.Fprintln(w, "* tuned while running; --workers sets a number")
	}
	fmt.Fprintf(w, "memory: at most %s in flight, of %s", size.Format(r.Memory.Peak), size.Format(r.Memory.Limit))
	if r.Memory.Held > 0 {
		fmt.Fprintf(w, ", and %s in the shuffle buffer", size.Format(r.Memory.Held))
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "\nbottleneck: %s\n", r.Bottleneck)
}
