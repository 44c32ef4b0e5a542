// Package stages has the stages that work on records: shuffles, caches, functions on records,
// windows, and several sets in one.
//
// A function such as [Shuffle] adds a stage to a pipeline.Link. [Pipe.Start] opens all of them, at the
// beginning of an epoch or at a State, and returns the [Stream] of their records; [MergeStates] lets
// other numbers of workers continue. Each stage writes its own section of the position, and reads it
// when it starts again.
package stages
