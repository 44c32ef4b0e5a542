// Package arrow reads Arrow IPC as tables: files, which Feather is since version 2, and streams, as
// which Hugging Face caches data sets.
//
//	src, err := arrow.Open(ctx, storage.Parse("train.arrow"))
//	t, err := src.Scan(ctx, table.ScanOptions{})
//	err = src.Read(ctx, t.Chunks[0], t.Columns, &batch)
//
// A chunk is a record batch, or some of its rows if it is large. A file is read as the stream that
// it contains, so its footer is only used for the number of record batches that there must be.
//
// # Columns
//
// Booleans and integers are Int64, as are dates, times and timestamps in the column's unit; floats
// of 16, 32 and 64 bits and decimals are Float; strings and bytes are Bytes. Dictionaries are read
// as their values, extension types as their storage type. ScanOptions.Kinds may make integers
// Float, and decimals Bytes: their text.
//
// Members of structs are columns a/b, missing where the struct is null. A list of structs is a list
// for each member. A null inside a list makes the row bad, and an unsigned integer above int64 is
// an error with its row. Lists of lists, maps, unions, intervals and run-end encoded columns are
// errors with the name of the column.
//
// # Limits
//
// 64 MiB of metadata in a message, 2 GiB of a record batch or dictionary as it is stored, 4 GiB of
// a column of one uncompressed, 65536 columns, structs and lists, 48 levels of them, 2 GiB of a
// column in a batch. Sizes in the metadata are compared with the file's size before memory is
// allocated; a panic of the library on a damaged message becomes an error with the record batch.
package arrow
