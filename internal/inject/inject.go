// Package inject makes operations on files fail, so that tests can check the files that remain.
package inject

import (
	"context"
	"io/fs"
)

// Hook is called before each operation on the files of a set that is made, and on those that it is
// made from. Its error becomes the error of the operation. A nil Hook does nothing.
type Hook func(operation string) error

type key struct{}

// With returns a context whose operations on files call hook first. Only tests use it.
func With(ctx context.Context, hook Hook) context.Context {
	return context.WithValue(ctx, key{}, hook)
}

// From returns the hook of ctx, usually nil. What does many operations on one file keeps it.
func From(ctx context.Context) Hook {
	hook, _ := ctx.Value(key{}).(Hook)
	return hook
}

// Fault returns the error of the hook of ctx for an operation on the file at path, usually nil.
func Fault(ctx context.Context, operation, path string) error {
	return From(ctx).Fault(operation, path)
}

// Fault returns the hook's error for an operation on the file at path, in the form that the system
// returns errors.
func (h Hook) Fault(operation, path string) error {
	if h == nil {
		return nil
	}
	if err := h(operation); err != nil {
		return &fs.PathError{Op: operation, Path: path, Err: err}
	}
	return nil
}
