package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/shard/reshape"
)

// dedupeResult is the output of dedupe.
type dedupeResult struct{ *reshape.DedupeReport }

func (r dedupeResult) detail() string { return plural.Of(r.Duplicates, "duplicate") + " dropped" }

func newDedupeCommand() *cobra.Command {
	f := new(reshapeFlags)
	var o reshape.DedupeOptions
	var list string
	cmd := &cobra.Command{
		Use:     "dedupe IN... OUT",
		GroupID: cli.GroupChange,
		Short:   "Drop records that repeat earlier ones",
		Long: `Write the records to a new set in OUT without duplicates of earlier ones: records
with the same bytes or, with --by, the same value of a feature. The first of them
is kept, in the order of the input, whatever splits they are in. Records that lack
the feature of --by are kept.

Records are compared by 128-bit hashes. Hashes that exceed --memory are spilled to
OUT or, if that is a URL, to the system's temporary directory.`,
		Example: `  tfrec dedupe out/ clean/
  tfrec dedupe train/ test/ clean/ --by image/filename --report dropped.jsonl`,
		Annotations: map[string]string{cli.FaultsMean: damagedFaults},
		Args:        cli.MinArgs("IN...", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, out := args[:len(args)-1], args[len(args)-1]
			return f.run(cmd, out, func(ctx context.Context) (any, error) {
				o.Options = f.options
				if list == "" {
					report, err := reshape.Dedupe(ctx, in, out, o)
					return dedupeResult{report}, err
				}
				if err := cli.CheckReport(ctx, list, in); err != nil {
					return nil, err
				}
				w, err := cli.NewLinesFile(list)
				if err != nil {
					return nil, fmt.Errorf("--report: %w", err)
				}
				defer w.Discard()
				o.Dropped = func(d reshape.Duplicate) error {
					return w.Add(newDroppedRecord(d))
				}
				report, err := reshape.Dedupe(ctx, in, out, o)
				if err == nil {
					err = w.Place()
				}
				return dedupeResult{report}, err
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.By, "by", "", "compare the value of the feature `KEY` instead of whole records")
	fs.StringVar(&list, "report", "", "list dropped records in `FILE`: a JSON object per line, with file and number of the record and of the one that it repeats")
	f.add(cmd)
	return cmd
}

// droppedRecord is a line of --report.
type droppedRecord struct {
	recordLine
	Repeats recordLine `json:"repeats"`
}

// recordLine is the position of a record in a line of --report.
type recordLine struct {
	File   string `json:"file"`
	Record int64  `json:"record"`
}

func newDroppedRecord(d reshape.Duplicate) droppedRecord {
	return droppedRecord{
		recordLine: recordLine{jsontext.Readable(d.Dropped.Path), d.Dropped.Record},
		Repeats:    recordLine{jsontext.Readable(d.Kept.Path), d.Kept.Record},
	}
}
