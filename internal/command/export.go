package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/view/export"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

func newExportCommand() *cobra.Command {
	var o spec.Options
	cmd := &cobra.Command{
		Use:     "export PATH... OUT --format FORMAT",
		GroupID: cli.GroupUse,
		Short:   "Write records as files that other programs read",
		Long: `Write records as files that other programs read. OUT is a new directory for the formats
of images (folders, webdataset, coco, voc, yolo), and a new file for the others; it gets
its name when it is complete, and a failed run leaves nothing. The same export again
finds OUT up to date; an OUT with other content is refused.

A killed export may leave .OUT.exporting-N next to OUT; the next export to the same OUT
removes it. In an object store, a directory holds .tfrec/export.json until it is
complete, and a killed export is completed by the same one.

  folders     each image as its original file, in OUT/LABEL/, or OUT/SPLIT/LABEL/ if
              there are several splits: tfrec convert images reads the same images and
              labels from it. Images stored raw become PNG. A variant is named
              STEM#COPY.EXTENSION.
  csv         a column for each feature; lists are JSON arrays. Spreadsheets run text
              that begins with = + - or @ as a formula: --safe puts an apostrophe before
              it.
  jsonl       an object for each record.
  parquet     a column for each feature, a list where records have several values.
  npz         arrays for numpy.load, without pickle: of one shape KEY, of several
              KEY.values with KEY.row_splits.
  webdataset  tars of up to 1 GiB, OUT/SPLIT-000000.tar: for each record, in its order,
              the image, its label's id in .cls, and all other features in .json, lists
              as arrays. tfrec convert images reads them again.
  coco        images in OUT/SPLIT/, and OUT/annotations/instances_SPLIT.json: boxes in
              pixels, areas, iscrowd, and instance masks as compressed RLE. Ids of
              images are those of image/source_id if these are integers that differ in
              each split; else 1, 2, ... in all splits, and a note says why.
  voc         OUT/JPEGImages/, OUT/Annotations/ with an XML an image, semantic masks in
              OUT/SegmentationClass/, those of objects in OUT/SegmentationObject/, and
              OUT/ImageSets/Main/SPLIT.txt.
  yolo        OUT/images/SPLIT/, OUT/labels/SPLIT/ with a text an image, OUT/data.yaml
              for Ultralytics' tools, and OUT/classes.txt. A class is its place in the
              order of ids, from 0.

coco, voc and yolo are for records with boxes, as TensorFlow's Object Detection API
stores them. Images keep their paths, with the extension of the format that they are
stored in; variants are named STEM#COPY.EXTENSION. Classes
are those of label_map.pbtxt or the manifest, and of the records. What the format
has no place for is left out, and a note says so.

Bytes that are not UTF-8 become base64 in csv, jsonl and .json, in a column KEY.base64.
A record that lacks a feature has an empty cell, no member, a null, or false in
KEY.present.

Names in records never lead outside OUT. What not every system allows in file names is
written as %XX: separators, control characters, names of Windows devices, dots and
spaces at the end, and a dot in front, which would hide the file. tfrec convert images
reads the labels back. Names that differ only in case count as the same.`,
		Example: `  tfrec export out/ photos/ --format folders
  tfrec export out/ web/ --format webdataset
  tfrec export coco-set/ yolo/ --format yolo
  tfrec export table/ table.parquet
  tfrec export 'table/*-train.*' train.npz`,
		Annotations: map[string]string{cli.FaultsMean: "an input is damaged or holds no Examples: nothing was written"},
		Args:        cli.MinArgs("PATH...", "OUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkExport(cmd, args[len(args)-1], &o); err != nil {
				return err
			}
			return runExport(cmd, args[:len(args)-1], args[len(args)-1], o)
		},
	}
	flags := cmd.Flags()
	cli.TextVar(flags, "format", "", "FORMAT", "folders, csv, jsonl, parquet, npz, webdataset, coco, voc or yolo; OUT's extension .csv, .jsonl, .parquet or .npz is enough", func(s string) (err error) {
		o.Format, err = spec.ParseFormat(s)
		return err
	}, "folders", "csv", "jsonl", "parquet", "npz", "webdataset", "coco", "voc", "yolo")
	cli.TextVar(flags, "on-collision", "error", "error|number", "folders, coco, voc, yolo: what to do when a name is taken: error, or number for NAME~2", func(s string) (err error) {
		o.OnCollision, err = spec.ParseCollision(s)
		return err
	}, "error", "number")
	flags.StringVar(&o.ImageKey, "picture", imagekey.Encoded, "formats of images: `KEY` of the feature with the image")
	flags.StringVar(&o.Label, "label", "", "folders, webdataset: `KEY` of the feature with the label (default: image/class/text, else image/class/label; webdataset: image/class/label)")
	flags.StringVar(&o.Filename, "filename", imagekey.Filename, "folders, coco, voc, yolo: `KEY` of the feature with the image's path")
	flags.BoolVar(&o.Safe, "safe", false, "csv: put an apostrophe before text that spreadsheets would take for formulas; it stays when the file is read again")
	cli.PartialVar(cmd, &o.Partial)
	return cmd
}

// formatOf are the formats of single files by their extension.
var formatOf = map[string]spec.Format{
	".csv": spec.CSV, ".jsonl": spec.JSONL, ".ndjson": spec.JSONL, ".parquet": spec.Parquet, ".npz": spec.NPZ,
}

func checkExport(cmd *cobra.Command, out string, o *spec.Options) error {
	if o.Format == "" {
		o.Format = formatOf[strings.ToLower(path.Ext(out))]
	}
	if o.Format == "" {
		return cli.UsageError("--format is missing, and %s has the extension of none; want folders, csv, jsonl, parquet, npz, webdataset, coco, voc or yolo", out)
	}
	folders, boxes := o.Format == spec.Directories, o.Format.HasBoxes()
	for _, f := range []struct {
		name, formats string
		ok            bool
	}{
		{"on-collision", "folders, coco, voc or yolo", folders || boxes},
		{"filename", "folders, coco, voc or yolo", folders || boxes},
		{"picture", "folders, webdataset, coco, voc or yolo", o.Format.HasImages()},
		{"safe", "csv", o.Format == spec.CSV},
		{"label", "folders or webdataset", folders || o.Format == spec.WebDataset},
	} {
		if !f.ok && cmd.Flags().Changed(f.name) {
			return cli.UsageError("--%s is for --format %s; leave it out", f.name, f.formats)
		}
	}
	return nil
}

func runExport(cmd *cobra.Command, paths []string, out string, o spec.Options) error {
	quiet, stderr := cli.QuietFlag(cmd), cmd.ErrOrStderr()
	o.Progress, o.Warn = new(shard.ReadProgress), cli.PartialWarning(cmd)
	if !quiet {
		o.Note = cli.NotesTo(stderr)
	}
	stop := cli.ShowProgress(cmd, cli.ReadGauge(o.Progress))
	report, err := export.Export(cmd.Context(), paths, out, o)
	stop()
	var damaged *tfrecord.Error
	var unread *fs.PathError
	switch {
	case errors.As(err, &damaged) && !errors.As(err, &unread):
		return cli.FaultError(err)
	case err != nil:
		return err
	case cli.JSONFlag(cmd):
		return cli.PrintJSON(cmd, report)
	}
	return printExported(cli.SummaryTo(cmd), out, report)
}

func printExported(w io.Writer, out string, r *spec.Report) error {
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
