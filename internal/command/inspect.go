package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/formats"
	"github.com/tfrec/tfrec/internal/command/text"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/view/emit"
	"github.com/tfrec/tfrec/shard/stats"
)

func newInspectCommand() *cobra.Command {
	var o stats.InspectOptions
	var program emit.Target
	var sheet string
	cmd := &cobra.Command{
		Use:     "inspect PATH...",
		GroupID: cli.GroupLook,
		Short:   "Show what is in TFRecord files",
		Long: `Show what is in TFRecord files: records and their sizes, compression, which
message they hold, features with kinds, shapes and ranges, labels, objects, and
the first records. Everything is read; memory stays bounded.

Records that are neither Examples nor SequenceExamples are counted and shown as
bytes. Only the first 10,000 features are shown; others are counted.

--emit prints a program that reads exactly these features, with the files of each
split, their compression and the names of labels: a module to import, which shows
what a batch looks like when it is run.

--sheet writes a contact sheet: a random sample of the images, always the same,
with boxes and masks of objects, label and key below. tfrec preview makes a page
of them.`,
		Example: `  tfrec inspect out/
  tfrec inspect --records 1 'data/*.tfrecord'
  tfrec inspect --json out/ | jq '.features[].key'
  tfrec inspect --emit tf out/ > birds.py`,
		Annotations: map[string]string{cli.ReadsStdin: "", cli.FaultsMean: "the data have faults; the output covers what could be read"},
		Args:        cli.MinArgs("PATH..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Workers < 1 {
				return cli.UsageError("--workers %d: want 1 or more", o.Workers)
			}
			if o.First < 0 {
				return cli.UsageError("--records %d: want 0 or more", o.First)
			}
			if program != "" && cmd.Flags().Changed("records") {
				return cli.UsageError("--records has no effect with --emit, which prints a program: give one of them")
			}
			o.Note = cli.PartialWarning(cmd)
			sum, err := stats.Inspect(cmd.Context(), args, o)
			if sum == nil {
				return err
			}
			if err == nil && sheet != "" {
				if err := writeSheet(cmd, sheet, sum, o.Workers); err != nil {
					return err
				}
			}
			if program != "" {
				err = errors.Join(err, printProgram(cmd, program, args, sum))
			} else if cli.JSONFlag(cmd) {
				err = errors.Join(err, cli.PrintJSON(cmd, inspectJSON(sum)))
			} else {
				printInspection(cmd.OutOrStdout(), sum)
			}
			if err == nil && len(sum.Faults) > 0 {
				if program != "" || !cli.JSONFlag(cmd) {
					text.PrintFaults(cmd.ErrOrStderr(), sum.Faults)
				}
				err = cli.FaultError(fmt.Errorf("%s in the data; the figures cover what could be read",
					plural.Of(int64(len(sum.Faults))+sum.FaultsOmitted, "fault")))
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&o.First, "records", 3, "show the first `N` records")
	cli.MaxRecordVar(fs, &o.MaxRecord)
	cli.WorkersVar(fs, &o.Workers, "read `N` files at a time")
	addEmitFlag(cmd, &program)
	sheetVar(cmd, &sheet)
	cli.PartialVar(cmd, &o.Partial)
	return cmd
}

// inspection is the output of `inspect --json`.
type inspection struct {
	*stats.Summary
	First []firstRecord `json:"first"`
}

type firstRecord struct {
	Path   string          `json:"path"`
	Record int64           `json:"record"`
	Offset int64           `json:"offset"`
	Size   int64           `json:"size"`
	Value  json.RawMessage `json:"value"` // null of a record that is too large to show
}

func inspectJSON(sum *stats.Summary) inspection {
	for i := range sum.Files {
		sum.Files[i].Path = jsontext.Readable(sum.Files[i].Path)
	}
	text.ReadableFaults(sum.Faults)
	for _, list := range [][]stats.FeatureSummary{sum.Features, sum.FeatureLists} {
		for i := range list {
			list[i].Key = jsontext.Readable(list[i].Key)
		}
	}
	first := []firstRecord{}
	var show formats.Readable
	for _, r := range sum.First {
		one := firstRecord{jsontext.Readable(r.Path), r.Record, r.Offset, r.Size, nil}
		if r.Data != nil {
			one.Value = show.Object(nil, r.Data)
		}
		first = append(first, one)
	}
	return inspection{Summary: sum, First: first}
}

func printInspection(w io.Writer, s *stats.Summary) {
	fmt.Fprintf(w, "%s, %s, %s", plural.Of(len(s.Files), "file"), plural.Of(s.Records, "record"), size.Format(s.Bytes))
	if len(s.Compression) > 1 || s.Compression["none"] == 0 {
		fmt.Fprintf(w, " (%s)", text.ListCounts(s.Compression))
	}
	fmt.Fprintln(w)
	splits := map[string]int64{}
	for _, f := range s.Files {
		if f.Split != "" {
			splits[f.Split] += f.Records
		}
	}
	if len(splits) > 0 {
		fmt.Fprintf(w, "splits: %s\n", text.ListCounts(splits))
	}
	if s.Records > 0 {
		fmt.Fprintf(w, "record sizes: %d to %d bytes, mean %.1f\n", s.RecordBytes.Min, s.RecordBytes.Max, s.RecordBytes.Mean)
		fmt.Fprintf(w, "messages: %s\n", text.ListMessages(s.Messages))
	}
	if len(s.UnknownFields) > 0 {
		fmt.Fprintf(w, "unknown fields: %v\n", s.UnknownFields)
	}
	printFeatures(w, "features", s.Features)
	printFeatures(w, "feature lists", s.FeatureLists)
	if s.FeaturesOmitted > 0 {
		fmt.Fprintf(w, "%s of further features not inspected\n", plural.Of(s.FeaturesOmitted, "occurrence"))
	}
	for _, l := range s.Labels {
		printLabels(w, l)
	}
	text.PrintObjects(w, s.Objects, false)
	var show formats.Readable
	for _, r := range s.First {
		fmt.Fprintln(w)
		if r.Data == nil {
			fmt.Fprintf(w, "%s: record %d at byte %d, %s\n  too large to show here: tfrec cat prints it\n", printable.String(r.Path), r.Record, r.Offset, plural.Of(r.Size, "byte"))
			continue
		}
		w.Write(show.Text(nil, r.Path, r.Record, r.Offset, r.Data)) // resultWriter keeps the error
	}
}

func printFeatures(w io.Writer, title string, features []stats.FeatureSummary) {
	if len(features) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range features {
		kinds := make([]string, 0, len(f.Kinds))
		for kind := range f.Kinds {
			kinds = append(kinds, kind)
		}
		slices.Sort(kinds)
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", printable.String(f.Key), strings.Join(kinds, "|"), shape(f), ranges(f))
	}
	table.Flush() // resultWriter keeps the error
}

// shape describes the number of values of a feature at a time: "" for one, "[28]", "[0..7]"; for a
// list the number of steps comes first.
func shape(f stats.FeatureSummary) string {
	var s string
	if f.Steps != nil {
		s = "[" + text.Between(strconv.FormatInt(f.Steps.Min, 10), strconv.FormatInt(f.Steps.Max, 10)) + "]"
	}
	if f.Values.Min == 1 && f.Values.Max == 1 {
		return s
	}
	return s + "[" + text.Between(strconv.FormatInt(f.Values.Min, 10), strconv.FormatInt(f.Values.Max, 10)) + "]"
}

func ranges(f stats.FeatureSummary) string {
	var says []string
	if f.Int64 != nil {
		says = append(says, text.Between(strconv.FormatInt(f.Int64.Min, 10), strconv.FormatInt(f.Int64.Max, 10)))
	}
	if f.Float != nil {
		says = append(says, text.Between(fmt.Sprint(f.Float.Min), fmt.Sprint(f.Float.Max)))
	}
	if f.NaNs > 0 {
		says = append(says, plural.Of(f.NaNs, "NaN"))
	}
	if f.Infinities > 0 {
		says = append(says, fmt.Sprintf("%d infinite", f.Infinities))
	}
	if f.Bytes != nil {
		size := text.Between(strconv.FormatInt(f.Bytes.Min, 10), strconv.FormatInt(f.Bytes.Max, 10)) + " bytes"
		if f.Bytes.Min == f.Bytes.Max {
			size = plural.Of(f.Bytes.Max, "byte")
		}
		if f.Text {
			size += " of text"
		}
		says = append(says, size)
	}
	if len(f.Formats) > 0 {
		says = append(says, text.ListCounts(f.Formats))
	}
	if f.Missing > 0 {
		says = append(says, fmt.Sprintf("missing in %d", f.Missing))
	}
	return strings.Join(says, ", ")
}

func printLabels(w io.Writer, l stats.LabelCounts) {
	fmt.Fprintf(w, "\n%s, by %s:\n", plural.Of(len(l.Counts), "label"), printable.String(l.Key))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, c := range l.Counts {
		if i == text.ShownLabels {
			fmt.Fprintf(table, "  ... and %d more (--json lists them)\n", len(l.Counts)-text.ShownLabels)
			break
		}
		if c.ID != nil {
			fmt.Fprintf(table, "  %d\t%s\t%d\n", *c.ID, printable.String(c.Name), c.Records)
		} else {
			fmt.Fprintf(table, "  %s\t%d\n", printable.String(c.Name), c.Records)
		}
	}
	table.Flush() // resultWriter keeps the error
	if l.Omitted > 0 {
		fmt.Fprintf(w, "  %s of further labels\n", plural.Of(l.Omitted, "record"))
	}
}
