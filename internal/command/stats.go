package command

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/text"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/stats"
)

// statsCommand has the flags of `stats`.
type statsCommand struct {
	o       stats.Options
	pixels  int // images to decode; below 0 all
	compare bool
}

func newStatsCommand() *cobra.Command {
	c := statsCommand{pixels: 500}
	cmd := &cobra.Command{
		Use:     "stats PATH...",
		GroupID: cli.GroupLook,
		Short:   "Show value distributions per feature",
		Long: `Show value distributions per feature: how many records lack it, range, mean,
standard deviation, quantiles, histogram, the most frequent and the number of
distinct values; sizes, formats and pixels of images; labels and their shares;
objects: how many an image has, their classes, sizes and aspect ratios
(docs/objects.md). Everything is read once; memory stays bounded.

Counts, ranges, means, standard deviations and histograms are always exact. Up
to 1024 distinct values of a feature, so is everything else. Past that, a
quantile is off by at most 0.2% of the values in rank (KLL): the median is
exceeded by 49.8% to 50.2% of them. Counts of distinct values have a standard
error of 0.8% (HyperLogLog), and the most frequent values are those that surely
come more often than the error given with them. NaNs and infinities are counted
separately and are in no other figure.

The buckets of a histogram are equally wide. Whole numbers get one bucket each
where there are up to 32 from the least to the largest, and buckets of whole
widths otherwise, so that no bucket has room for more values than its
neighbours. The same holds for values at regular steps, such as tenths.

Images are values that begin like a JPEG, PNG, GIF, WebP, BMP or TIFF. Mean and
standard deviation of their pixels are printed as flags for convert --encode
float32. They are those of a random sample of the images, the same for the same
--seed, in which each image counts the same; --pixels is the size of the sample.

--by also gives all figures for the records of each value of a feature; values
beyond --max-groups and records without one are only counted. --compare A B lists
the differences between two inputs, largest first, and how objects in images
differ: their number, sizes, aspect ratios and classes.`,
		Example: `  tfrec stats out/
  tfrec stats --by image/class/label --pixels all out/
  tfrec stats --compare january/ february/
  tfrec stats --json out/ | jq '.features[] | {key, missing, float}'`,
		Annotations: map[string]string{cli.FaultsMean: "the data have faults; the figures cover what could be read"},
		Args:        cli.MinArgs("PATH..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(args); err != nil {
				return err
			}
			return c.run(cmd, args)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&c.o.By, "by", "", "also give all figures for the records of each value of the feature `KEY`")
	fs.BoolVar(&c.compare, "compare", false, "show what differs between the two PATHs")
	cli.TextVar(fs, "pixels", "500", "N|all", "images of each feature to decode for the pixels' mean and standard deviation; 0: none", func(s string) (err error) {
		if s == "all" {
			c.pixels = -1
		} else if c.pixels, err = strconv.Atoi(s); err != nil || c.pixels < 0 {
			return fmt.Errorf("want a number or all")
		}
		return nil
	}, "all")
	cli.SeedVar(fs, &c.o.Seed, "seed of the sample of images")
	fs.IntVar(&c.o.Top, "top", 20, "list the `N` most frequent values")
	fs.IntVar(&c.o.MaxGroups, "max-groups", 32, "give figures for at most `N` values of --by")
	fs.IntVar(&c.o.MaxFeatures, "max-features", 2000, "measure at most `N` features, and count the others")
	cli.MaxRecordVar(fs, &c.o.MaxRecord)
	cli.WorkersVar(fs, &c.o.Workers, "read `N` files at a time")
	cli.PartialVar(cmd, &c.o.Partial)
	return cmd
}

func (c *statsCommand) check(args []string) error {
	for _, flag := range []struct {
		name  string
		value int
	}{{"top", c.o.Top}, {"max-groups", c.o.MaxGroups}, {"max-features", c.o.MaxFeatures}, {"workers", c.o.Workers}} {
		if flag.value < 1 {
			return cli.UsageError("--%s %d: want 1 or more", flag.name, flag.value)
		}
	}
	if c.compare && len(args) != 2 {
		return cli.UsageError("--compare: want exactly two PATHs, A and B (quote a glob); there are %d", len(args))
	}
	if c.compare && c.o.By != "" {
		return cli.UsageError("--compare and --by: give one of them")
	}
	return nil
}

func (c *statsCommand) run(cmd *cobra.Command, args []string) error {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		return err
	}
	c.o.Header = imageHeader(codec)
	if c.pixels != 0 {
		c.o.Pixels, c.o.SamplePixels = pixelSums(codec), c.pixels
	}
	c.o.Progress, c.o.Note = new(shard.ReadProgress), cli.PartialWarning(cmd)
	if c.compare {
		return c.runCompare(cmd, args[0], args[1])
	}
	stop := cli.ShowProgress(cmd, cli.ReadGauge(c.o.Progress))
	st, err := stats.Measure(cmd.Context(), args, c.o)
	stop()
	if st == nil {
		return err
	}
	if cli.JSONFlag(cmd) {
		err = errors.Join(err, cli.PrintJSON(cmd, readableStats(st)))
	} else {
		text.PrintStats(cmd.OutOrStdout(), st)
	}
	if err != nil {
		return err
	}
	return reportFaults(cmd, st)
}

func (c *statsCommand) runCompare(cmd *cobra.Command, a, b string) error {
	both, err := c.measureBoth(cmd, a, b)
	if err != nil {
		return err
	}
	drift := stats.Compare(both[0], both[1])
	if cli.JSONFlag(cmd) {
		if err := cli.PrintJSON(cmd, text.ReadableDrift(drift)); err != nil {
			return err
		}
	} else {
		text.PrintDrift(cmd.OutOrStdout(), drift)
	}
	return errors.Join(reportFaults(cmd, both[0]), reportFaults(cmd, both[1]))
}

// measureBoth measures the sides of a comparison, all of which must be readable.
func (c *statsCommand) measureBoth(cmd *cobra.Command, a, b string) (both [2]*stats.Report, err error) {
	defer cli.ShowProgress(cmd, cli.ReadGauge(c.o.Progress))()
	for i, path := range []string{a, b} {
		if both[i], err = stats.Measure(cmd.Context(), []string{path}, c.o); err != nil {
			return both, err
		}
	}
	return both, nil
}

// reportFaults reports the faults that were found.
func reportFaults(cmd *cobra.Command, st *stats.Report) error {
	if len(st.Faults) == 0 {
		return nil
	}
	if !cli.JSONFlag(cmd) {
		text.PrintFaults(cmd.ErrOrStderr(), st.Faults)
	}
	return cli.FaultError(fmt.Errorf("%s in the data; the figures cover what could be read",
		plural.Of(int64(len(st.Faults))+st.FaultsOmitted, "fault")))
}

// readableStats makes paths and keys fit for JSON.
func readableStats(st *stats.Report) *stats.Report {
	for i := range st.Files {
		st.Files[i].Path = jsontext.Readable(st.Files[i].Path)
	}
	text.ReadableFaults(st.Faults)
	st.By = jsontext.Readable(st.By)
	readableFigures(&st.Figures)
	for i := range st.Groups {
		readableFigures(&st.Groups[i].Figures)
	}
	return st
}

func readableFigures(f *stats.Figures) {
	for _, list := range [][]stats.Feature{f.Features, f.FeatureLists} {
		for i := range list {
			list[i].Key = jsontext.Readable(list[i].Key)
		}
	}
	for i := range f.Labels {
		f.Labels[i].Key = jsontext.Readable(f.Labels[i].Key)
	}
}
