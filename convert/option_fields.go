package convert

import (
	"encoding/json"
	"maps"
)

// optionFields are the fields that the effective options of sets are set by, by kind of source and
// key in the manifest.
var optionFields = map[string]map[string]string{
	"images": withShared(map[string]string{
		"labels": "ImageOptions.LabelFile", "label_offset": "ImageOptions.LabelOffset", "rename": "ImageOptions.Rename",
		"include": "ImageOptions.Include", "exclude": "ImageOptions.Exclude", "follow_symlinks": "ImageOptions.FollowSymlinks",
		"encode": "ImageOptions.Encode", "quality": "ImageOptions.Quality", "subsampling": "ImageOptions.Subsampling",
		"mean": "Normalize.Mean", "std": "Normalize.Std", "channels": "ImageOptions.Channels",
		"resize": "ImageOptions.Resize", "filter": "ResizeSpec.Filter", "fit": "ResizeSpec.Fit", "pad_color": "ResizeSpec.PadColor",
		"antialias": "ResizeSpec.Antialias", "no_upscale": "ResizeSpec.NoUpscale", "exact_pixels": "ImageOptions.ExactPixels",
		"augment": "ImageOptions.Augment", "copies": "ImageOptions.Copies", "keep_original": "ImageOptions.KeepOriginal",
		"augment_splits": "ImageOptions.AugmentSplits",
		"min_size":       "ImageOptions.MinSize", "max_aspect": "ImageOptions.MaxAspect", "max_pixels": "ImageOptions.MaxPixels",
		"background": "ImageOptions.Background", "no_check": "ImageOptions.NoCheck", "allow_arithmetic": "ImageOptions.AllowArithmetic",
	}),
	"csv": withShared(map[string]string{
		"delimiter": "CSVOptions.Delimiter", "no_header": "CSVOptions.NoHeader", "columns": "CSVOptions.Columns", "column": "CSVOptions.Types",
		"na": "CSVOptions.Missing", "na_values": "CSVOptions.MissingValues", "vector": "CSVOptions.Vectors",
		"label": "CSVOptions.Label", "vocab": "CSVOptions.Vocab", "label_offset": "CSVOptions.LabelOffset",
		"key": "CSVOptions.Key", "shuffle": "CSVOptions.Shuffle",
	}),
}

// withShared adds the options that all kinds of source have.
func withShared(fields map[string]string) map[string]string {
	maps.Copy(fields, map[string]string{
		optionSplits: "Options.Splits", optionShards: "Options.Shards", "even": "Options.Even",
		"compression": "Options.Compression", "limit": "Options.Limit", "seed": "Options.Seed",
	})
	return fields
}

// fieldOf returns the field that sets an option of this run. A key that no field sets, as a set of
// another kind or version has, stands for itself.
func (r *run) fieldOf(key string) string {
	var kind string
	if json.Unmarshal(r.options["source"], &kind) == nil {
		if field := optionFields[kind][key]; field != "" {
			return field
		}
	}
	return key
}
