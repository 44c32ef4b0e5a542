// Package convert turns raw data, directories of images or CSV files, into sets of TFRecord
// shards with indexes, a manifest and TFDS's metadata.
//
//	summary, err := convert.Images(ctx, "photos", "out", convert.ImageOptions{
//		Options: convert.Options{Seed: 1, Shards: 8},
//		Resize:  augment.ResizeSpec{Width: 224, Height: 224},
//	})
//	var bad *convert.BadSamplesError
//	switch {
//	case errors.As(err, &bad): // more unusable samples than Options.MaxErrors; bad.Samples names them
//	case err != nil:           // the run failed; finished shards are kept
//	default:
//		fmt.Println(summary.Status, summary.Records)
//	}
//
// [CSV] does the same for tables: one record a row, one feature a column.
//
// # Options
//
// [Options] are common to both. [ImageOptions] groups what belongs together: which files become
// samples (Select), where their labels come from (Labels), which variants are made (Augment), and
// how images are resized (Resize), stored (Encode) and decoded (Codec):
//
//	o := convert.ImageOptions{
//		Labels: convert.LabelSpec{File: "labels.csv"},
//		Select: convert.SelectSpec{Exclude: []string{"**/masks/**"}, MinSize: 64},
//		Resize: augment.ResizeSpec{Square: 224},
//		Encode: convert.EncodeSpec{Format: convert.PNG},
//	}
//
// Options and results are declared in internal packages, with a comment for each field: see go doc
// -all of convert/internal/plan (Options, Summary), convert/internal/options (ImageOptions) and
// convert/internal/tables (CSVOptions, TableOptions).
//
// With [AnnotationSpec], records of images have objects with boxes, classes and masks, which move
// with the pixels, in place of labels:
//
//	o.Annotations.Files = []convert.AnnotationFile{{Path: "instances.json"}}
//
// # Plan, then shards
//
// A run lists its input first. The listing, the options and one seed determine a plan: for each
// split, for each shard, the samples in order. After that each shard is an independent unit of work
// that has the same bytes on any machine and with any number of workers.
//
// A killed run leaves complete shards or none, and the next one with the same options makes the
// rest. A run after a change of the input makes only the shards that the change affects. Without
// [Options.Overwrite] it is an error if the options would make another set, and without
// [Options.AllowShrink] if a run would remove more than half of a set's samples.
// [Options.DryRun] returns the [Plan] and writes nothing.
//
// # Unusable samples
//
// Samples that cannot be read or decoded are listed in a ledger with the reason, and so are
// annotations of images that cannot be used, whose images are kept. By default one of them fails the
// run with a [BadSamplesError]; [Options.MaxErrors] allows some.
//
// # Many machines
//
// With [Options.Task] a run is one task of an array job: it makes its share of the shards, and
// [Finalize] completes the set after the last one. An engine with a scheduler of its own uses a
// [Job] ([BeginImages], [JoinImages]) and requests shards by their numbers.
package convert
