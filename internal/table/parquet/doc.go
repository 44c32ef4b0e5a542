// Package parquet reads Parquet files as tables.
//
//	src, err := parquet.Open(ctx, storage.Parse("train.parquet"))
//	t, err := src.Scan(ctx, table.ScanOptions{})
//	err = src.Read(ctx, t.Chunks[0], t.Columns, &batch)
//
// A chunk is some rows of a row group. Read decodes the pages of the wanted columns that hold them,
// and reads no others: in an object store, the rest of the file is never fetched.
//
// # Columns
//
// Booleans and integers are Int64, as are dates, times and timestamps in the column's unit, and
// INT96 timestamps in nanoseconds; floats, doubles, floats of 16 bits and decimals are Float;
// strings and bytes are Bytes. ScanOptions.Kinds may make integers Float, and integers and decimals
// Bytes: their text.
//
// Members of groups are columns a/b, missing where the group is null. Repeated fields and LISTs, of
// three levels or the older two, are lists; a list of groups is a list for each member. A null
// inside a list makes the row bad, and an unsigned integer above int64 is an error with its row.
// Lists of lists, maps and variants are columns that are Unfit. Text says of a column of strings
// that it has been looked at and is UTF-8.
//
// # Own decoder
//
// The pages are decoded here and not by parquet-go, which allocates what footers and pages claim and
// cannot be told a limit. Codecs are libraries.
//
// # Limits
//
// A footer of 256 MiB, 65536 columns and groups, 64 levels of them, a page of 1 GiB and 2^24
// values, 2 GiB of a column in a batch, 2^20 chunks of 65536 rows. Memory grows as bytes arrive,
// not as sizes claim. Chunks have about 8 MiB of values. Pages of more than 16 MiB are kept for the
// chunks that share them, one of each column and 512 MiB together; in row groups with more than that,
// chunks have half of the largest page.
package parquet
