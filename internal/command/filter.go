package command

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/where"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/reshape"
	"github.com/tfrec/tfrec/tfrecord"
)

// filterResult is the output of filter.
type filterResult struct {
	*reshape.FilterReport
	// Missing counts the dropped records without a value that the condition needs; nil if the set
	// already existed, so that no record was read.
	Missing *int64 `json:"missing,omitempty"`
}

func (r *filterResult) detail() string {
	return fmt.Sprintf("%d of %s dropped", r.Dropped, plural.Of(r.RecordsIn, "record"))
}

func newFilterCommand() *cobra.Command {
	f := new(reshapeFlags)
	var condition string
	cmd := &cobra.Command{
		Use:     "filter IN... OUT --where CONDITION",
		GroupID: cli.GroupChange,
		Short:   "Keep the records that meet a condition",
		Long: `Write the records that meet a condition to a new set in OUT, unchanged and in
their order and splits.

A condition compares features: label == 3 && width > 200. A feature is named by
its key, by the part after the key's last slash if no other key ends the same, or
as f["image/class/label"]. A feature with one value in each record is an int,
a float or a string (its bytes); others are lists of these, and list("key") is
always a list. Operators are && || ! and, or, not, == != < <= > >=,
+ - * / %, in, matches (a regular expression), contains, startsWith, endsWith,
?:, and functions such as len, any, all, count, sum, min, max, lower:
any(score, # > 0.5), "dog" in name, len(encoded) < 100000.

boxes is the list of a record's boxes, as TensorFlow's Object Detection API stores
them. Each has xmin, ymin, xmax, ymax, width, height and area, as shares of the
image, label (the id), text (the name), and difficult, truncated and crowd, which are
true or false: any(boxes, .text == "dog" && .area > 0.1), len(boxes) > 0,
count(boxes, .crowd) == 0.

An unknown feature name and a comparison of unlike types are errors before
anything is written. A record that lacks a value that the condition evaluates is
dropped, and counted separately; has("width") checks first: !has("width") ||
width > 200. A list that a record lacks is empty, and an element after its end,
as in boxes[0].area > 0, is a value that the record lacks. Floats are compared as
float64, so that score == 0.1 is never true of a float32.

The work for one record is limited, so that a condition on all pairs of its values,
such as any(a, any(b, ...)), is an error for lists of more than some 3,000.`,
		Example: `  tfrec filter out/ wide/ --where 'width > 200 && label in [3, 4]'
  tfrec filter 'coco-*' dogs/ --where 'any(boxes, .text == "dog" && .area > 0.1)'`,
		Annotations: map[string]string{cli.FaultsMean: damagedFaults},
		Args:        cli.MinArgs("IN...", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if condition == "" {
				return cli.UsageError("--where is missing: give the condition for records to keep")
			}
			in, out := args[:len(args)-1], args[len(args)-1]
			return f.run(cmd, out, func(ctx context.Context) (any, error) {
				var missing atomic.Int64
				report, err := reshape.Filter(ctx, in, out, reshape.FilterOptions{
					Options: f.options, Where: condition,
					Keep: reshape.KeepFor(func(features []manifest.Feature) (reshape.Keep, error) {
						return keepWhere(condition, features, &missing)
					}),
				})
				if err != nil {
					return nil, err
				}
				result := &filterResult{FilterReport: report}
				if n := missing.Load(); report.Status != "up_to_date" {
					result.Missing = &n
					if n > 0 {
						f.note("%s dropped for lack of a value that the condition needs; has(\"key\") asks whether there is one", plural.Of(n, "record"))
					}
				}
				return result, nil
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&condition, "where", "", "keep records that meet `CONDITION`, such as 'label == 3 && width > 200'")
	f.add(cmd)
	return cmd
}

// keepWhere compiles a condition for records with these features.
func keepWhere(condition string, features []manifest.Feature, missing *atomic.Int64) (reshape.Keep, error) {
	known := make([]where.Feature, len(features))
	for i, f := range features {
		kind, _ := tfrecord.ParseKind(f.Kind) // of KindNone, nothing is known
		known[i] = where.Feature{Key: f.Key, Kind: kind, List: isList(f)}
	}
	x, err := where.Compile(condition, known)
	if err != nil {
		return nil, cli.UsageError("--where: %v", err)
	}
	return func(ctx context.Context, e *tfrecord.Example) (bool, error) {
		keep, err := x.Match(ctx, &e.Features)
		if errors.Is(err, where.ErrMissing) {
			missing.Add(1)
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("--where: %w", err)
		}
		return keep, nil
	}, nil
}

// isList reports whether a record may have any number of a feature's values.
func isList(f manifest.Feature) bool {
	switch f.Class {
	case manifest.ClassVector:
		return true
	case manifest.ClassImage, manifest.ClassTensor:
		return false // the shape describes the one encoded value
	}
	return len(f.Shape) > 0
}
