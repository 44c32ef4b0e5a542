// Package csvscan reads tables of comma-separated values fast enough that making records takes most
// of the time, not reading: it cuts a file into chunks of whole rows, separates rows and fields
// without allocating, infers the type of each column over the whole input, and parses numbers.
//
// A table is read twice. The first pass finds the types of the columns and the positions of the
// rows; the second one reads any range of rows, in parallel.
//
//	src, err := csvscan.Open("trips.csv.gz", csvscan.Options{})
//	defer src.Close()
//	table, err := src.Scan(ctx, csvscan.ScanOptions{Workers: 8})
//	tok := csvscan.NewTokenizer(src.Dialect(), len(src.Header()))
//	for _, chunk := range table.Chunks {
//		data, err = src.ReadChunk(data[:0], chunk)
//		for tok.Reset(data, chunk.FirstLine); tok.Next(); {
//			if tok.Bad() {
//				log.Print(tok.Err())
//				continue
//			}
//			fare, ok := csvscan.ParseFloat64(tok.Field(3))
//		}
//	}
//
// # Dialect
//
// The rules are the same as in Python's csv module in strict mode. A quote opens a quoted field
// only as the field's first byte; inside, two quotes mean one, and delimiters and line ends are
// text. Anywhere else a quote is an ordinary character. Text between a closing quote and the next
// delimiter makes the row bad. A row ends with \n, \r\n or a lone \r. With two columns or more a
// blank line is not a row; with one it is a row with an empty field. Bytes are not converted: UTF-8
// is passed through, a UTF-8 byte order mark is skipped, UTF-16 and UTF-32 are errors. Spaces and
// tabs belong to a field, but not to a name in the header, nor to a number or a missing value in a
// column of numbers.
//
// # Chunks
//
// A chunk holds the rows that begin in [k*ChunkSize, (k+1)*ChunkSize) of the uncompressed stream,
// so the cut depends on the bytes alone, and an edit that keeps the length changes the chunks that
// it touches and no other.
package csvscan
