// Package diff compares the records, features and labels of two inputs, which are files or sets of any
// origin, and writes nothing:
//
//	report, err := diff.Compare(ctx, "before", "after", diff.Options{})
//	if err == nil && !report.Equal {
//		fmt.Println(report.Differing, report.OnlyA, report.OnlyB)
//	}
//
// Records are compared by their bytes, wherever shards begin and end: in order or, with
// [Options.Unordered], by how often each occurs. Of Examples that differ, the report lists the features
// and objects that do. All differences are counted, and the first ones listed.
package diff
