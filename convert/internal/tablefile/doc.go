// Package tablefile reads the files of a table: CSV, JSON lines, Parquet, Arrow and NumPy's arrays.
//
// [Open] opens files of one [Format], and [Tables.Scan] finds their columns and the chunks of their
// rows; an earlier run's scan of an unchanged file is used again. A [Chunk] is read once more for
// its records, and must then have the rows that were scanned.
package tablefile
