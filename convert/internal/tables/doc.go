// Package tables makes records of the rows of tables: CSV, JSON lines, Parquet, Arrow and NumPy's
// arrays, one record a row.
//
// A run scans all rows for the kinds of their columns ([Schema]), decides what columns become features,
// assigns rows to shards by their numbers, and reads them again in chunks, whose rows are encoded
// straight into the frames of a piece. Rows that turn out different from those scanned end the run.
package tables
