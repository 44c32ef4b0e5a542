// Package fileset has the files of a set: which they are, whether they are still the same, where
// their records begin, and how they are divided among workers.
//
// [OpenAll] records the size and time of each file; a file that changed since is an error at each use.
// Everything else is found when it is first needed, and kept: the index of a file, the identity of the
// set, the [Piece] of each file that a worker reads.
package fileset
