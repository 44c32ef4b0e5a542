// Package columns turns tf.train.Examples and SequenceExamples into columns: one contiguous slice
// for each feature of a batch of records, which a tensor library takes without a copy.
//
//	schema := columns.Schema{
//		{Key: "label", Kind: tfrecord.KindInt64},
//		{Key: "pixels", Kind: tfrecord.KindFloat, Shape: []int{28, 28}},
//		{Key: "words", Kind: tfrecord.KindBytes, Ragged: true},
//	}
//	parser, err := columns.NewParser(schema)
//	var batch columns.Columns
//	err = parser.Parse(&batch, records)
//	labels, err := batch.Int64s("label")
//
// Fields with [Steps] are sequences: the feature lists of SequenceExamples, and the features of
// Examples that hold all steps of an episode (RLDS). Their columns are ragged, or padded to a
// Length:
//
//	schema := columns.Schema{
//		{Key: "steps/action", Kind: tfrecord.KindFloat, Shape: []int{7}, Steps: columns.FlatSteps},
//		{Key: "tokens", Kind: tfrecord.KindInt64, Steps: columns.ListSteps, Length: columns.Longest},
//	}
//
// A [Windower] cuts records into windows over their steps.
//
// Ragged columns become tensors with [Column.Dense], labels with [Column.OneHot] and
// [Column.MultiHot], words with a [Vocabulary]. [SchemaOf] takes the schema from a manifest,
// [InferSchema] from records.
//
// Package reader makes such batches of whole sets, in parallel and in any order: see its function
// ParseColumns, and Windows for windows.
package columns
