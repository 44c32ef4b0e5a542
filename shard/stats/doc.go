// Package stats summarises the records of files: which features they have, with their kinds and
// shapes (Inspect), and the distribution of their values (Measure).
//
//	sum, err := stats.Inspect(ctx, []string{"out"}, stats.InspectOptions{First: 3})
//	for _, f := range sum.Features {
//		fmt.Println(f.Key, f.Kinds, f.Values)
//	}
//
//	january, err := stats.Measure(ctx, []string{"january"}, stats.Options{By: "label"})
//	fmt.Println(january.Feature("price").Float.Mean)
//	drift := stats.Compare(january, february)
//
// Inspect keeps ranges; Measure also keeps quantiles, histograms and the most frequent values. Both
// read all records once, in parallel. Memory does not grow with the data: above 1024 distinct
// values, quantiles and counts of distinct values are estimates with known errors (RankError,
// DistinctError). Results are the same for any number of workers.
package stats
