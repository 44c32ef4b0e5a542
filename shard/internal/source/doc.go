// Package source reads the records of sets and files that are to be rearranged or compared.
//
//	paths ──► Inputs: files, splits, counts, what manifests state, one list of label names
//	             │
//	           Stream ──► Block: whole frames of one file, in order
//	                        │
//	                      Record: a payload, its number, and its place for errors
//
// [Open] finds the files, [Inputs.MergeManifests] makes one description of those of all sets, and
// [Inputs.Count] counts the records. [Inputs.EachRecord] looks at all records in parallel and gives the
// results in order. A [Stream] gives the blocks themselves, in a bounded amount of memory, to a caller
// that returns each of them.
//
// Nothing is decoded that is not asked for, and a payload is never changed in place. The package
// writes nothing, and knows neither verbs nor outputs. Frames are found by their lengths, whose
// checksums are verified; whoever uses a payload has verified it ([Block.Check]).
package source
