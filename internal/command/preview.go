package command

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/conversion"
	"github.com/tfrec/tfrec/internal/command/text"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	page "github.com/tfrec/tfrec/internal/view/preview"
	"github.com/tfrec/tfrec/shard"
)

// pageNames are how names of pages end.
var pageNames = []string{".html", ".htm"}

func newPreviewCommand() *cobra.Command {
	var o page.Options
	cmd := &cobra.Command{
		Use:     "preview PATH... OUT.html",
		GroupID: cli.GroupLook,
		Short:   "Make a page that shows what is in a set",
		Long: `Make a page that shows what is in a set: images with label and key, variants next
to their original with the operations applied, boxes and masks of objects, class
balance, sizes, features, shards and their faults, and how the set was made. For
sets without images it shows histograms and records. It can be filtered by label
and split and searched by key; a click enlarges an image.

The page is a single file below 5 MB. It loads nothing from the network or the
disk, and runs nothing from the data.

All records are read for the figures, and --samples of them are shown: a random
sample, spread evenly over the splits and their shards, the same for the same
--seed. For an augmented set it is a sample of the originals.`,
		Example: `  tfrec preview out/ page.html
  tfrec preview --samples 400 --seed 7 out/ page.html --overwrite
  tfrec preview --picture photo --label class 'theirs/*.tfrecord' page.html`,
		Annotations: map[string]string{cli.FaultsMean: "the data have faults; the page was written and lists them"},
		Args:        cli.MinArgs("PATH...", "OUT.html"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Samples < 1 || o.Samples > page.MaxSamples {
				return cli.UsageError("--samples %d: want 1 to %d", o.Samples, page.MaxSamples)
			}
			if o.Workers < 1 {
				return cli.UsageError("--workers %d: want 1 or more", o.Workers)
			}
			out := args[len(args)-1]
			if !slices.Contains(pageNames, strings.ToLower(filepath.Ext(out))) { // it may well be an input, and the page forgotten
				return cli.UsageError("OUT.html: %s: want a name that ends in %s", out, strings.Join(pageNames, " or "))
			}
			return runPreviewPage(cmd, args[:len(args)-1], out, o)
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&o.Samples, "samples", 120, "show `N` records")
	cli.SeedVar(fs, &o.Seed, "seed of the sample")
	fs.StringVar(&o.ImageKey, "picture", "", "`KEY` of the feature with the image (default: image/encoded, else the one with the most images)")
	fs.StringVar(&o.Label, "label", "", "`KEY` of the feature with the label (default: image/class/text, else a feature that is a label)")
	fs.StringVar(&o.Key, "key", "", "`KEY` of the feature that names a record (default: image/filename, else one such as key or id)")
	fs.BoolVar(&o.Overwrite, "overwrite", false, "replace OUT.html if it exists")
	cli.WorkersVar(fs, &o.Workers, "read files and decode images, `N` at a time")
	cli.PartialVar(cmd, &o.Partial)
	return cmd
}

func runPreviewPage(cmd *cobra.Command, paths []string, out string, o page.Options) error {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		return err
	}
	o.Codec, o.Header, o.Pixels = codec, imageHeader(codec), pixelSums(codec)
	o.Tool = "tfrec " + build.Version
	if o.Command, err = conversion.CommandOf(cmd.Context(), paths); err != nil {
		return err
	}
	o.Progress, o.Note = new(shard.ReadProgress), cli.PartialWarning(cmd)
	stop := cli.ShowProgress(cmd, cli.ReadGauge(o.Progress))
	report, err := page.Write(cmd.Context(), paths, out, o)
	stop()
	if err != nil {
		return err
	}
	if cli.JSONFlag(cmd) {
		text.ReadableFaults(report.Faults)
		err = cli.PrintJSON(cmd, report)
	} else {
		err = printPreviewed(cli.SummaryTo(cmd), report)
	}
	if err == nil && len(report.Faults) > 0 {
		if !cli.JSONFlag(cmd) {
			text.PrintFaults(cmd.ErrOrStderr(), report.Faults)
		}
		err = cli.FaultError(fmt.Errorf("%s in the data; the page covers what could be read",
			plural.Of(int64(len(report.Faults))+report.FaultsOmitted, "fault")))
	}
	return err
}

func printPreviewed(w io.Writer, r *page.Report) error {
	line := fmt.Sprintf("%s written: %d of %s, %s", printable.String(r.Page), r.Shown, plural.Of(r.Records, "record"), plural.Of(r.Images, "image"))
	if r.Unreadable > 0 {
		line += fmt.Sprintf(", %d that could not be shown", r.Unreadable)
	}
	_, err := fmt.Fprintf(w, "%s, %s (%.2f s)\n", line, size.Format(r.Bytes), r.Seconds)
	return err
}
