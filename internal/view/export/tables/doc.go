// Package tables exports records as one table: CSV, JSON lines, Parquet or NPZ, a file each.
//
//	err := tables.Write(ctx, in, "out.csv", &o, report)
//
// Records flow through twice. The first pass finds the columns ([inputScan]); in the second, a
// [table] gets a row of features for each record, in the order of the columns. A format knows only
// the columns and its rows. A table never has a value that the first pass did not allow for: input
// that changes between the passes is an error.
package tables
