// Package rearrange makes a new set of the records of existing ones: it is the frame of a run, into
// which verbs put what they choose.
//
//	inputs, options, Verb
//	   │
//	  Open     which inputs, which name; is the set there already?     options.go, apart.go, again.go
//	  survey   counts, schemas, choices, layouts                       run.go
//	  announce the files that may be written, for whoever cleans up    run.go
//	  write    the shards                                              package transfer
//	  finish   manifest, metadata, state of the finished run           finish.go
//	   │
//	  Report        or, after an error, nothing is left                undo.go
//
// [Make] goes through all of it. A [Run] has the steps for callers that have the shards written
// elsewhere.
//
// A set appears completely or not at all, and replaces another only on request (overwrite.go). The
// package does not know which verbs there are: a [Verb] is a value with a name, options for the
// manifest, and functions.
package rearrange
