// Package input reads the records of an export: rows in the order of the files' names, each an
// Example with its split, and the image that a row holds.
//
//	in, err := input.Open(ctx, []string{"out"}, &o)
//	records, err := in.Each(ctx, nil, func(r *input.Row) error { return use(r) })
//
// Files flow in, rows flow out, one at a time; a row is valid during its call. A damaged record, or
// a message other than an Example, is never skipped. A file that changes while it is read is an
// error.
package input
