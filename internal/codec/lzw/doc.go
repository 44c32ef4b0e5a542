// Package lzw decompresses LZW as in TIFF (TIFF 6.0, section 13): codes of 9 to 12 bits, the
// highest bit first, which get longer one code earlier than in GIF.
//
//	var r lzw.Reader // its zero value is ready, and its memory is reused
//	r.Reset(strip)
//	_, err := io.ReadFull(&r, row)
//
// For each string, the table holds its last one to eight bytes and the code of the bytes before
// them, a multiple of eight. So a string costs a store for every eight bytes, a new string none for
// each of its bytes, and memory does not depend on the data: some 90 KB.
//
// Verdicts and bytes equal golang.org/x/image/tiff/lzw's, the reference in the tests, with one
// exception: that package panics some 60,000 codes after its table is full, and this one continues.
package lzw
