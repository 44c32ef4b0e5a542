package cliname

// Fields are the flags that set fields of options, by struct and field. Structs of one name in two
// packages share an entry. A method of reader.Pipe stands for the argument that it takes.
var Fields = map[string]map[string]string{
	"Options": {
		"Name": "name", "Seed": "seed", "Splits": "splits", "Shards": "shards", "SplitShards": "shards", "Even": "even",
		"Compression": "compression", "MaxErrors": "max-errors", "Workers": "workers", "Limit": "limit",
		"Overwrite": "overwrite", "AllowShrink": "allow-shrink", "Expect": "expect", "HashInputs": "hash-inputs", "TrustTimes": "trust-times", "DryRun": "dry-run", "Estimate": "estimate",
		"Depfile": "depfile", "Task": "task", "Replan": "replan", "Retries": "retries",
		"Parallelism": "workers", "Readers": "workers", "Partial": "partial", "Deep": "deep", "Union": "union",
		"ShardSize": "shard-size", "RecordsPerShard": "records-per-shard", "Memory": "memory", "MaxRecord": "max-record",
	},
	"Task": {"Index": "task", "Count": "tasks"},
	"ImageOptions": {
		"ArchiveFormat": "archive-format", "ImageKey": "image-key", "Features": "features", "Rename": "rename", "Resize": "resize", "ExactPixels": "exact-pixels", "Memory": "memory",
		"Backend": "gpu on", "BackendDecodes": "gpu-decode",
	},
	"SelectSpec": {
		"Include": "include", "Exclude": "exclude", "ByContent": "by-content", "FollowSymlinks": "follow-symlinks",
		"MinSize": "min-size", "MaxAspect": "max-aspect",
	},
	"LabelSpec": {
		"File": "table", "PathColumn": "path-column", "SplitColumn": "split-column", "Column": "label-column", "PathSuffix": "image-suffix",
		"Separator": "multi-label", "Strict": "strict", "Classes": "classes",
		"None": "unlabelled", "Offset": "label-offset",
	},
	"AnnotationSpec": {
		"Files": "annotations", "Format": "annotation-format", "InstanceMasks": "instance-masks", "MinVisibility": "min-visibility",
		"DropEmpty": "drop-empty", "KeepUnannotated": "keep-unannotated", "Masks": "masks", "MaskFill": "mask-fill",
	},
	"AugmentSpec": {"Policy": "augment", "Copies": "copies", "KeepOriginal": "keep-original", "Splits": "augment-splits"},
	"EncodeSpec": {
		"Format": "encode", "Channels": "channels", "Quality": "quality", "Subsampling": "subsampling", "NoCheck": "no-check",
	},
	"ResizeSpec": {
		"Filter": "filter", "Fit": "fit", "PadColor": "pad-color", "Antialias": "antialias", "NoUpscale": "no-upscale",
	},
	"Normalize": {"Mean": "mean", "Std": "std"},
	"CSVOptions": {
		"Delimiter": "delimiter", "NoHeader": "no-header", "Columns": "columns", "MaxRow": "max-row", "Types": "column",
		"Missing": "na", "MissingValues": "na-values", "Vectors": "vector", "Drop": "drop", "Label": "label", "Vocab": "vocab",
		"Vocabulary": "vocab", "LabelOffset": "label-offset", "Key": "key", "Shuffle": "shuffle", "Memory": "memory",
	},
	"TableOptions": {"Format": "format"},
	"CodecOptions": {
		"Decoder": "decoder", "MaxPixels": "max-pixels", "AllowArithmetic": "allow-arithmetic", "Background": "background", "FloatRange": "float-range",
	},
	"ReshardOptions": {"Shuffle": "shuffle", "SortBy": "sort-by", "GroupBy": "group-by"},
	"ResplitOptions": {
		"Splits": "splits", "ByHash": "by-hash", "Stratify": "stratify", "Together": "together", "List": "list", "Key": "key",
	},
	"FilterOptions":  {"Keep": "where", "Where": "where"},
	"DedupeOptions":  {"By": "by"},
	"SampleOptions":  {"Count": "count", "Share": "share"},
	"TakeOptions":    {"Count": "count", "Skip": "skip"},
	"AppendOptions":  {"Split": "split", "NewLabels": "new-labels", "Again": "again"},
	"AdoptOptions":   {"Labels": "classes", "Rename": "rename"},
	"ShuffleOptions": {"Buffer": "shuffle"},
	"MapOptions":     {"Workers": "workers"},
	"ColumnSpec":     {"Workers": "workers", "Batch": "batch"},
	"ImageSpec":      {"Workers": "workers", "Batch": "batch", "Resize": "resize"},
	"Pipe":           {"Batch": "batch"},
}

// Functions are what does the work of functions, by package and function: a verb, a flag, or the
// value of one. An argument of a function is named after it.
var Functions = map[string]string{
	"convert.Images":              "tfrec convert images",
	"convert.CSV":                 "tfrec convert csv",
	"convert.CSVSchema":           "--print-schema",
	"convert.Table":               "tfrec convert table",
	"convert.TableSchema":         "--print-schema",
	"convert.Finalize":            "tfrec finalize",
	"convert.TaskOf":              "auto",
	"repair.Adopt":                "tfrec adopt",
	"repair.Copy":                 "tfrec repair",
	"reshape.Append":              "tfrec append",
	"reshape.Dedupe":              "tfrec dedupe",
	"reshape.DropFeatures":        "tfrec features drop",
	"reshape.DropFeatures.keys":   "--keys",
	"reshape.Filter":              "tfrec filter",
	"reshape.Merge":               "tfrec merge",
	"reshape.RenameFeatures":      "tfrec features rename",
	"reshape.RenameFeatures.keys": "--keys",
	"reshape.Reshard":             "tfrec reshard",
	"reshape.Resplit":             "tfrec split",
	"reshape.SelectFeatures":      "tfrec features select",
	"reshape.SelectFeatures.keys": "--keys",
	"repair.InPlace":              "--in-place",
	"repair.Clean":                "tfrec clean",
	"verify.Files":                "tfrec verify",
}
