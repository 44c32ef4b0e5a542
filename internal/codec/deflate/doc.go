// Package deflate compresses to zlib's format (RFC 1950, 1951), for the output of PNG filters:
// mostly small numbers, where matches of less than six bytes cost more than they save.
//
//	var w deflate.Writer // its zero value is ready, and its memory is reused
//	w.Reset(dst)
//	w.Write(row)
//	dst = w.Close() // what was there before, and the stream
//
// Strings of six bytes and more are found by a hash of them, whose chains are short. A match is
// delayed by a byte if a longer one begins there. Each block has the cheapest of dynamic codes,
// fixed codes and no compression. The bytes depend only on the data, and not on the sizes of
// writes.
package deflate
