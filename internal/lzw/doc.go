// Package lzw decompresses LZW as TIFF has it (TIFF 6.0, section 13): codes of 9 to 12 bits, the
// highest bit first, which get longer one code earlier than in GIF.
//
//	var r lzw.Reader // its zero value is ready, and its memory is reused
//	r.Reset(strip)
//	_, err := io.ReadFull(&r, row)
//
// The table holds of each string its last one to eight bytes and the code of what is before them, a
// multiple of eight bytes. So a string costs a store for every eight bytes, a new string none for
// each of its bytes, and memory does not depend on the data: some 90 KB.
//
// Verdicts and bytes are those of golang.org/x/image/tiff/lzw, the judge in the tests, with one
// exception: that one panics some 60,000 codes after its table is full, and this one goes on.
package lzw
