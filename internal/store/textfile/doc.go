// Package textfile reads files of text that may be compressed, on disk and in object stores: as a
// stream, and as any range of it.
//
//	f, err := textfile.Open(ctx, "trips.csv.gz")
//	defer f.Close()
//	in, err := f.Stream(ctx)
//	defer in.Close()
//	for {
//		n, err := in.Read(buf) // uncompressed
//	}
//	err = f.ReadRange(ctx, buf, 1<<20) // again, from the second mebibyte on
package textfile
