// Package inflate decompresses DEFLATE (RFC 1951), alone or in zlib's format (RFC 1950), and
// verifies the checksum of the result.
//
//	var r inflate.Reader // its zero value is ready, and its memory is reused
//	r.Reset(source, inflate.Zlib)
//	row, err := r.Next(width) // exactly so many bytes, in place
//	_, err = r.Next(1)        // io.EOF once the stream is whole and its checksum matches
//
// Data come in pieces from a [Source] and go into one buffer. It holds the window that matches
// refer to and the data that the caller has not taken yet: nothing is copied for the caller. Memory
// does not depend on the data: some 150 KB, and more only if the caller requests more in one piece.
//
// Symbols are decoded with a table of 11 bits, whose entries have up to two literals, and a table
// of distances of 9 bits. Longer codes have secondary tables. On amd64 with BMI2 this is in
// assembly ([Reader.decodeFast]). Near the ends of a piece and of the buffer symbols are decoded
// one by one ([Reader.decodeSlow]), which is also the reference implementation.
package inflate
