// Package emit writes programs that read a set of TFRecord files: for exactly
// the features that are in it, with the shards of its splits, its compression
// and the names of its labels.
//
//	sum, err := stats.Inspect(ctx, []string{"out"}, stats.InspectOptions{})
//	d, err := emit.Describe(ctx, []string{"out"}, sum)
//	program, err := emit.Program(emit.TF, d)
//
// Names of features, labels, splits and files are untrusted text. In a program they are string
// literals or, in comments, text quoted like one, and field names derived from them have letters
// and digits only: nothing in them is ever code.
package emit
