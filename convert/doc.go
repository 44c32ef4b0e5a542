// Package convert turns raw data, directories of images or CSV files, into
// sharded TFRecords with their indexes, manifest and TFDS metadata.
//
// Listing the input comes first. From the listing, the options and one seed a
// plan is made: for each split, for each shard, the ordered samples. Each
// shard is then an independent, repeatable unit of work: the same bytes from
// one worker or from many. A run that is killed leaves whole shards or none,
// and the next one with the same options finishes the rest; a run after a
// change of the input redoes only the shards that the change touches.
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
package convert
