package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/export"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

func newExportCommand() *cobra.Command {
	var o export.Options
	cmd := &cobra.Command{
		Use:     "export PATH... OUT --format FORMAT",
		GroupID: groupRead,
		Short:   "Write records as files that other programs read",
		Long: `Write records as files that other programs read. OUT is a new directory for
--format folders, and a new file for the others; it gets its name when it is
complete, and a failed run leaves nothing. The same export again finds OUT up to
date; an OUT with other content is refused. A killed export may leave .OUT.exporting-N
next to OUT; the next export to the same OUT removes it.

folders  each image as its original file, in OUT/LABEL/, or OUT/SPLIT/LABEL/ if
         there are several splits: tfrec convert images reads the same images
         and labels from it. Images stored raw become PNG. A variant is named
         STEM#COPY.EXTENSION.
csv      a column for each feature; lists are JSON arrays.
jsonl    an object for each record.
parquet  a column for each feature, a list where records have several values.
npz      arrays for numpy.load, without pickle: of one shape KEY, of several
         KEY.values with KEY.row_splits.

Bytes that are not UTF-8 become base64 in csv and jsonl, in a column KEY.base64.
A record that lacks a feature has an empty cell, no member, a null, or false in
KEY.present.

Names in records never lead outside OUT. What not every system allows in file names is
written as %XX: separators, control characters, names of Windows devices, dots and
spaces at the end. Names that differ only in case count as the same.`,
		Example: `  tfrec export out/ photos/ --format folders
  tfrec export others.tfrecord photos/ --format folders --picture image --label label --on-collision number
  tfrec export table/ table.parquet --format parquet
  tfrec export 'table/*-train.*' train.npz --format npz`,
		Annotations: map[string]string{faultsMean: "an input is damaged or holds no Examples: nothing was written"},
		Args:        minArgs("PATH...", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkExport(cmd, &o); err != nil {
				return err
			}
			return runExport(cmd, args[:len(args)-1], args[len(args)-1], o)
		},
	}
	flags := cmd.Flags()
	textVar(flags, "format", "", "FORMAT", "folders, csv, jsonl, parquet or npz", func(s string) (err error) {
		o.Format, err = export.ParseFormat(s)
		return err
	}, "folders", "csv", "jsonl", "parquet", "npz")
	textVar(flags, "on-collision", "error", "error|number", "folders: what to do when a name is taken: error, or number for NAME~2", func(s string) (err error) {
		o.OnCollision, err = export.ParseCollision(s)
		return err
	}, "error", "number")
	flags.StringVar(&o.ImageKey, "picture", export.DefaultImageKey, "folders: `KEY` of the feature with the image")
	flags.StringVar(&o.Label, "label", "", "folders: `KEY` of the feature with the label (default: image/class/text, else image/class/label)")
	flags.StringVar(&o.Filename, "filename", export.DefaultFilename, "folders: `KEY` of the feature with the image's path")
	partialVar(cmd, &o.Partial)
	return cmd
}

func checkExport(cmd *cobra.Command, o *export.Options) error {
	if o.Format == "" {
		return usageError("--format is missing; want folders, csv, jsonl, parquet or npz")
	}
	if o.Format == export.Directories {
		return nil
	}
	for _, name := range []string{"on-collision", "picture", "label", "filename"} {
		if cmd.Flags().Changed(name) {
			return usageError("--%s is for --format folders; leave it out", name)
		}
	}
	return nil
}

func runExport(cmd *cobra.Command, paths []string, out string, o export.Options) error {
	quiet, stderr := quietFlag(cmd), cmd.ErrOrStderr()
	o.Progress, o.Warn = new(shard.ReadProgress), partialWarning(cmd)
	if !quiet {
		o.Note = notesTo(stderr)
	}
	stop := showProgress(stderr, readGauge(o.Progress), quiet)
	report, err := export.Export(cmd.Context(), paths, out, o)
	stop()
	var damaged *tfrecord.Error
	var unread *fs.PathError
	switch {
	case errors.As(err, &damaged) && !errors.As(err, &unread):
		return faultError(err)
	case err != nil:
		return err
	case jsonFlag(cmd):
		return printJSON(cmd, report)
	}
	return printExported(summaryTo(cmd), out, report)
}

func printExported(w io.Writer, out string, r *export.Report) error {
	status := strings.ReplaceAll(r.Status, "_", " ")
	if r.Status != "written" {
		status = "is " + status
	}
	line := fmt.Sprintf("%s %s: %s in %s, %s", printable.String(out), status, plural.Of(r.Records, "record"), plural.Of(r.Files, "file"), size.Format(r.Bytes))
	for _, part := range []struct {
		n    int64
		what string
	}{{r.Encoded, "stored raw and now PNG"}, {r.Renamed, "renamed"}, {r.Numbered, "numbered"}} {
		if part.n > 0 {
			line += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	_, err := fmt.Fprintf(w, "%s (%.2f s)\n", line, r.Seconds)
	return err
}
