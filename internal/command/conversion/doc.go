// Package conversion has the verbs convert, finalize and config: the flags of conversions, the files of
// settings that give them, and engines that make the shards elsewhere.
package conversion
