package export

import (
	"cmp"
	"context"
	"time"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/view/export/boxes"
	"github.com/tfrec/tfrec/internal/view/export/filetree"
	"github.com/tfrec/tfrec/internal/view/export/images"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/internal/view/export/tables"
)

// Export writes the records of paths (see [shard.Expand]) to out: for formats of images a
// directory, else a file, and in an object store if out is a URL. The parent of a local directory
// out exists and is not an empty directory, it must be identical to the export: an export that was
// killed after it had finished can be run again.
// A damaged record, and one that is not a tf.train.Example, is an error that unwraps to a
// *tfrecord.Error; a set without any record is one that unwraps to shard.ErrNoRecords. After an
// error, or if ctx ends, out is unchanged; a directory in a store may hold setdir.ExportFile.
func Export(ctx context.Context, paths []string, out string, o spec.Options) (*spec.Report, error) {
	began := time.Now()
	o.ImageKey = cmp.Or(o.ImageKey, imagekey.Encoded)
	o.Filename = cmp.Or(o.Filename, imagekey.Filename)
	if o.OnCollision == "" {
		o.OnCollision = spec.Refuse
	}
	in, err := input.Open(ctx, paths, &o)
	if err != nil {
		return nil, err
	}
	if o.Format.HasImages() {
		noteSplits(&o, in.Splits)
	}
	report := &spec.Report{Status: "written", Format: o.Format}
	if o.Format.HasImages() {
		err = exportImages(ctx, in, out, &o, report)
	} else {
		err = tables.Write(ctx, in, out, &o, report)
	}
	if err != nil {
		return nil, err
	}
	report.Seconds = time.Since(began).Seconds()
	return report, nil
}

// exportImages writes images to a directory, or below a name in a store.
func exportImages(ctx context.Context, in *input.Records, out string, o *spec.Options, report *spec.Report) error {
	write := boxes.Write
	switch o.Format {
	case spec.Directories:
		write = images.WriteDirectories
	case spec.WebDataset:
		write = images.WriteWebDataset
	}
	if o.Progress != nil {
		o.Progress.Planned.Add(in.Size)
	}
	return filetree.Export(ctx, out, func(ctx context.Context, files filetree.Files) error { return write(ctx, in, files, o) }, o, report)
}
