// Package inject fails operations on files, so that tests see what is left then.
package inject

import "io/fs"

// Hook, when not nil, is called before each operation on the files of a set that
// is made, and on those that it is made from; an error of it is that of the
// operation. Only tests set it.
var Hook func(operation string) error

// Fault returns the error that an operation on the file at path is to fail with,
// as the system returns it, with both; usually nil.
func Fault(operation, path string) error {
	if Hook == nil {
		return nil
	}
	if err := Hook(operation); err != nil {
		return &fs.PathError{Op: operation, Path: path, Err: err}
	}
	return nil
}
