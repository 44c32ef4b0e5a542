package conversion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

func NewCommand(e *Engine) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "convert",
		GroupID: cli.GroupMake,
		Short:   "Convert images or tables to sharded TFRecords",
		Long: `Convert raw data to sharded, CRC-checked TFRecords with indexes, a manifest and the
metadata that TFDS reads. The same inputs, options and seed give the same bytes,
whatever the number of workers. The same command again resumes an interrupted run, and
redoes only what changed in the input.

Without a verb, SRC is converted as tfrec init proposes, if there is one way only. With
--config or --from-manifest, the file selects the verb. All other flags are those of the
verb.`,
		Example: `  tfrec convert photos out --resize 224
  tfrec convert --config convert.yaml
  tfrec convert --from-manifest out/manifest.json photos out2`,
		DisableFlagParsing: true, // the file selects a verb below, which parses the flags
	}
	cmd.Flags().String("config", "", "read everything from the YAML file `FILE` (see tfrec config)")
	cmd.Flags().String("from-manifest", "", "use the options of the set that the manifest `FILE` describes")
	cmd.AddCommand(newConvertImagesCommand(e), newConvertCSVCommand(e), newConvertTableCommand(e))
	cmd.RunE = runConfigured
	return cmd
}

// convertFaults is the meaning of exit code 3 for conversions.
const convertFaults = "more samples were unusable than --max-errors allows"

// convertFlags are the flags that all kinds of input share.
type convertFlags struct {
	options *convert.Options
	table   option.Table // of the verb
	engine  *Engine      // nil: this process makes the shards

	config   string // a file with flags
	from     string // a manifest whose options are taken over
	like     *manifest.Manifest
	task     string // a number or auto
	tasks    int
	planOnly string
	print    bool // the outputs, one a line
	print0   bool // with NULs between them
}

// rows are the options of all kinds of input that package convert does not have.
func (f *convertFlags) rows() []option.Option {
	return option.In(option.Run, []option.Option{
		{Flag: "config", To: &f.config, Help: "read flags, and SRC and OUT unless given, from the YAML file `FILE`; flags on the command line win (see tfrec config)", Once: true},
		{Flag: "from-manifest", To: &f.from, Help: "use the options of the set that the manifest `FILE` describes for SRC; flags on the command line win", Once: true},
		{Flag: "plan-only", To: &f.planOnly, Excludes: map[string]string{"print-outputs": "", "print0": ""}, Help: "write the plan as JSON to `FILE`, and nothing else", Once: true},
		{Flag: "print-outputs", To: &f.print, Help: "print the path of every file that the set would have, one per line, and write nothing", Once: true},
		{Flag: "print0", To: &f.print0, Help: "--print-outputs with a NUL after each path", Once: true},
		{
			Flag: "task", To: &f.task, Value: "I|auto", Words: []string{"auto"}, Once: true,
			Help: "make only the shards of task I of an array job, from 0; auto reads the scheduler's environment (see tfrec help splits)",
			Set: func(s string) error {
				f.task = s
				return nil
			},
		},
		{Flag: "tasks", To: &f.tasks, Help: "the array job has `N` tasks", Once: true},
	})
}

// add adds the flags of the verb.
func (f *convertFlags) add(fs *pflag.FlagSet) {
	cli.AddOptions(fs, f.table)
	f.engine.AddFlags(fs)
}

// complete brings the flags into the form that package convert takes.
func (f *convertFlags) complete(cmd *cobra.Command) error {
	o := f.options
	changed := cmd.Flags().Changed
	if err := cli.CheckOptions(cmd.Flags(), f.table); err != nil {
		return err
	}
	if err := storage.CheckOutput(f.planOnly); err != nil {
		return fmt.Errorf("--plan-only: %w", err)
	}
	if f.planOnly != "" || f.print || f.print0 {
		o.DryRun = true
	}
	if f.engine != nil {
		if err := f.engine.Allows(cmd); err != nil {
			return err
		}
	}
	if changed("task") != changed("tasks") {
		return cli.UsageError("--task and --tasks go together: --task I --tasks N")
	}
	if (changed("task") || f.engine != nil) && !changed("retries") {
		o.Retries = 2
	}
	if !changed("task") {
		return nil
	}
	if f.task != "auto" {
		index, err := strconv.Atoi(f.task)
		if err != nil {
			return cli.UsageError("--task %q: want a number from 0 to %d, or auto", f.task, f.tasks-1)
		}
		o.Task = &convert.Task{Index: index, Count: f.tasks}
		return nil
	}
	task, from, err := convert.TaskOf(f.tasks, os.LookupEnv)
	if err != nil {
		return err
	}
	o.Task = &task
	if !cli.QuietFlag(cmd) {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: task %d of %d, from %s\n", task.Index, task.Count, from)
	}
	return nil
}

// conversion is the work of a verb for some kind of input.
type conversion struct {
	// complete brings the verb's own flags into the form that package convert takes.
	complete func() error
	// whole carries it out in this process, begin and join have its shards made one
	// by one.
	whole       func(context.Context) (*convert.Summary, error)
	begin, join func(context.Context) (*convert.Job, error)
}

// raiseProcs raises GOMAXPROCS for the goroutines that read and write: a call of libjpeg-turbo
// keeps its P for as long as it runs, so they would wait.
var raiseProcs = sync.OnceFunc(func() {
	cores := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(cores + max(1, cores/2))
})

// run runs a conversion with progress, and prints its summary.
func (f *convertFlags) run(cmd *cobra.Command, out string, c *conversion) error {
	if err := f.complete(cmd); err != nil {
		return err
	}
	o := f.options
	raiseProcs()
	quiet := cli.QuietFlag(cmd)
	o.Progress, o.Args = new(convert.Progress), cli.CommandArgs(cmd)
	stderr := cmd.ErrOrStderr()
	switch {
	case f.engine != nil && f.engine.Note != nil:
		o.Note = f.engine.Note
	case !quiet:
		o.Note = cli.NotesTo(stderr)
	}
	sum, err := f.carryOut(cmd, c, quiet)
	switch {
	case f.engine != nil && f.engine.Joined != nil:
		return err
	case err == nil && (f.print || f.print0):
		return printOutputs(cmd.OutOrStdout(), out, sum.Plan.Outputs, f.print0)
	case err == nil && f.planOnly != "":
		return writePlan(cmd, f.planOnly, sum.Plan)
	case err == nil && f.like != nil && f.like.Decoder != sum.Decoder && o.Note != nil:
		o.Note(fmt.Sprintf("%s is from a set decoded by %q, this one by %q: its bytes may differ", f.from, f.like.Decoder, sum.Decoder))
	}
	return printOutcome(cmd, sum, err, out)
}

// carryOut runs the conversion that the flags select.
func (f *convertFlags) carryOut(cmd *cobra.Command, c *conversion, quiet bool) (*convert.Summary, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	stop := cli.ShowProgress(cmd, cli.ConvertGauge(f.options.Progress))
	defer stop()
	if f.engine == nil || f.options.DryRun {
		return c.whole(cmd.Context())
	}
	return f.engine.carryOut(cmd, c, f.options.Note)
}

// printOutcome prints the outcome of a conversion into out, or of its finalization.
func printOutcome(cmd *cobra.Command, sum *convert.Summary, err error, out string) error {
	var bad *convert.BadSamplesError
	switch {
	case errors.As(err, &bad):
		if cli.QuietFlag(cmd) { // else they are among the notes
			for _, cause := range bad.Causes {
				fmt.Fprintln(cmd.ErrOrStderr(), printable.String(cause))
			}
		}
		printBad(cmd.ErrOrStderr(), bad.Samples)
		if cli.JSONFlag(cmd) {
			if err := cli.PrintJSON(cmd, bad.Summary); err != nil {
				return err
			}
		}
		return cli.FaultError(err)
	case err != nil:
		return err
	}
	noteLeftOut(cmd, sum)
	switch {
	case sum.Status == convert.Planned:
		return printDryRun(cmd, sum, out)
	case cli.JSONFlag(cmd):
		return cli.PrintJSON(cmd, sum)
	}
	return printSummary(cli.SummaryTo(cmd), sum, out)
}

// shownBad is the maximum number of unusable samples that are named on the terminal; the ledger has
// all of them.
const shownBad = 10

func printBad(w io.Writer, bad []setdir.BadSample) {
	for i, b := range bad {
		if i == shownBad {
			fmt.Fprintf(w, "... and %d more\n", len(bad)-shownBad)
			break
		}
		where := b.Key
		if b.Line > 0 {
			where = fmt.Sprintf("%s:%d", b.Source, b.Line)
		}
		fmt.Fprintf(w, "%s: %s: %s\n", printable.String(where), b.Stage, printable.String(b.Reason))
	}
}

func printSummary(w io.Writer, s *convert.Summary, out string) error {
	var b strings.Builder
	out = printable.String(out)
	switch s.Status {
	case convert.UpToDate:
		fmt.Fprintf(&b, "%s is up to date: ", out)
	case convert.Planned:
		fmt.Fprintf(&b, "%s would hold %s: ", out, plural.Of(s.Samples, "sample"))
	default:
		fmt.Fprintf(&b, "%s %s: ", out, s.Status)
	}
	if s.Task != nil {
		fmt.Fprintf(&b, "task %d of %d: ", s.Task.Index, s.Task.Count)
	}
	names := make([]string, 0, len(s.Splits))
	for name := range s.Splits {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		split := s.Splits[name]
		if s.Status == convert.Planned {
			fmt.Fprintf(&b, "%s in %s", name, plural.Of(split.Shards, "shard"))
		} else {
			fmt.Fprintf(&b, "%s %s in %s", name, plural.Of(split.Records, "record"), plural.Of(split.Shards, "shard"))
		}
	}
	if s.Status != convert.Planned {
		fmt.Fprintf(&b, ", %s", size.Format(s.Bytes))
	}
	fmt.Fprintf(&b, " (%.2f s", s.Seconds)
	if s.ShardsWritten > 0 && s.ShardsKept > 0 {
		fmt.Fprintf(&b, "; %s kept, %d written", plural.Of(s.ShardsKept, "shard"), s.ShardsWritten)
	}
	b.WriteString(")\n")
	faults := plural.Of(s.Errors, "sample") + " not usable"
	if s.AnnotationCounts != nil {
		faults = plural.Of(s.Errors, "fault") + " in samples and annotations"
	}
	switch {
	case s.Errors > 0 && s.Status == convert.Planned:
		fmt.Fprintf(&b, "  %s, as far as listing the source shows\n", faults)
	case s.Errors > 0:
		fmt.Fprintf(&b, "  %s, listed in %s\n", faults, manifest.LedgerFile)
	}
	if s.Filtered > 0 {
		fmt.Fprintf(&b, "  %s left out by --min-size, --max-aspect or --drop-empty\n", plural.Of(s.Filtered, "sample"))
	}
	if c := s.AnnotationCounts; c != nil && s.Status != convert.Planned {
		fmt.Fprintf(&b, "  %s", plural.Of(c.Annotations, "object"))
		if c.Dropped > 0 {
			fmt.Fprintf(&b, ", %d dropped", c.Dropped)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// noteLeftOut notes the parts of the source that are not used.
func noteLeftOut(cmd *cobra.Command, s *convert.Summary) {
	if cli.QuietFlag(cmd) || cli.JSONFlag(cmd) {
		return
	}
	for _, line := range leftOutLines(s.LeftOut) {
		cli.NotesTo(cmd.ErrOrStderr())(line)
	}
}

// mostLeftOut is the maximum number of lines about unused parts of the source, including those in
// notes of the run.
const mostLeftOut = 8

// leftOutLines describes the unused parts of the source that the notes of the run have not
// mentioned, first those that lose data.
func leftOutLines(entries []convert.LeftOut) (lines []string) {
	unsaid := slices.DeleteFunc(slices.Clone(entries), convert.LeftOut.Noted)
	slices.SortStableFunc(unsaid, func(a, b convert.LeftOut) int {
		switch {
		case a.Loses() == b.Loses():
			return 0
		case a.Loses():
			return -1
		}
		return 1
	})
	room := max(1, mostLeftOut-(len(entries)-len(unsaid)))
	for i, e := range unsaid {
		if more := len(unsaid) - i; i == room-1 && more > 1 {
			return append(lines, fmt.Sprintf("%s why something is not used: left_out of --json has all", plural.Of(more, "more reason")))
		}
		lines = append(lines, e.String())
	}
	return lines
}
