// Package jsonl reads JSON lines as a typed table: a JSON object on each line, plain or compressed
// with gzip or zstd.
//
// # Columns
//
// A member of an object is a value of the column with its name, and a member of an object in it one
// of column "a/b". Lists hold the values of one row; in a column that has lists, other values are
// lists of one. null is a missing value. The kind of a column follows from the whole input: Int64
// if all values are integers or booleans, which are 0 and 1, Float if there are other numbers too,
// and Bytes if all are strings, as UTF-8. A mix of numbers and strings is an error, unless the
// caller gives the kind: Int64 and Float then take strings that are numbers, and Bytes takes
// numbers and booleans as they are written. The strings "NaN", "Infinity" and "-Infinity" are
// numbers in a column that has others. The member "x.base64" is column "x", with the bytes that its
// strings encode.
//
// # Rows
//
// Lines end with \n or \r\n. Blank lines are not rows. A row is bad if its line is anything but one
// JSON object, in UTF-8, without lone surrogates, repeated names, lists in lists, or objects or
// null in lists; if it is longer than Options.MaxRow or nested deeper than maxDepth objects; and if
// a value does not fit its column: an integer that int64 or a number that a 32-bit float cannot
// hold.
//
// # Chunks
//
// As in package csvscan, a chunk holds the rows that begin in [k*ChunkSize, (k+1)*ChunkSize) of the
// uncompressed stream. A row longer than Options.MaxRow is a chunk of its own, which is not read
// into memory.
package jsonl
