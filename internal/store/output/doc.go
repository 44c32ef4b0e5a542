// Package output decides whether a run may write a file, locally or in an object store. A run replaces
// an existing file only on request. Otherwise the file must have the bytes that the run would write,
// so that a run that was killed at its very end can be repeated.
//
//	exists, err := output.Find(ctx, out) // before the work
//	err = output.NotInput(ctx, out, inputs)
//	err = output.Put(ctx, out, data, overwrite)
//
// Larger files are compared by package compare. Directories of sets are opened by setdir.OpenOut.
package output
