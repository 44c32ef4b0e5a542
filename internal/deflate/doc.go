// Package deflate compresses to zlib's format (RFC 1950, 1951), for what a PNG's filters leave: small
// numbers, mostly, among which matches of less than six bytes cost more than they save.
//
//	var w deflate.Writer // its zero value is ready, and its memory is reused
//	w.Reset(dst)
//	w.Write(row)
//	dst = w.Close() // what was there before, and the stream
//
// Strings of six bytes and more are found by a hash of them, whose chains are short, and a match is
// put off by a byte if a longer one begins there. Each block has the cheapest of dynamic codes, fixed
// codes and no compression. The bytes depend on nothing but the data, and not on how they come.
package deflate
