// Package npy reads arrays of NumPy as tables: a .npy file, or the arrays of a .npz.
//
//	src, err := npy.Open(ctx, storage.Parse("train.npz"))
//	t, err := src.Scan(ctx, table.ScanOptions{})
//	err = src.Read(ctx, t.Chunks[0], t.Columns, &batch)
//
// The first axis of an array is the rows, of which all arrays have equally many; further axes are
// flattened in C order, whatever the order of the file. An array is a column: the array of a .npy
// is named after the file. Booleans, integers and times (datetime64 and timedelta64, in their unit)
// are Int64 (NaT makes its row bad), floats of 16, 32 and 64 bits Float, and fixed strings (S and
// U) Bytes. ScanOptions.Kinds may make integers Float. Structured arrays and arrays of objects,
// which are pickles, are errors.
//
// The arrays that `export --format npz` writes for features that differ between records are read
// back: KEY.values with KEY.row_splits, and KEY.value_splits and KEY.present where they exist, are
// one column. Arrays of uint8 with two axes are Bytes, a value a row, if the file has ExportComment
// or Kinds says so, and lists of integers otherwise.
//
// # Limits
//
// A header of 1 MiB, an element of 256 MiB, 65536 arrays, 2 GiB of a column in a batch, 2^20 chunks
// of 8 MiB or 65536 rows. Elements are read as they are needed, so sizes in a header or a zip cost
// no memory. Arrays that are compressed are read in order; one in Fortran order is then in memory,
// up to 1 GiB.
package npy
