package filetree

import (
	"errors"
	"io"

	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// Tree is the place of the files of an export: a directory, or the objects below a name in a store.
// In one that is finished, files are compared with those that are there, and a difference is
// compare.ErrDiffers. Names have "/".
type Tree interface {
	// mkdir makes a directory. If there is one, the error unwraps to fs.ErrExist.
	mkdir(name string) error
	// create begins a file. If there is one, the error unwraps to fs.ErrExist.
	create(name string) (File, error)
	// put makes a file. Data may be changed when it has returned; errors may come from later calls.
	put(name string, data []byte) error
	// finish ends the tree, which must have just the files and directories that were made or
	// compared, and makes it durable.
	finish(files, directories int64) error
	// Scratch returns the directory for temporary files; empty for the system's.
	Scratch() string
}

// File is a file in progress.
type File interface {
	io.Writer
	// Commit ends the file. One that is compared must have no more than what was written.
	Commit() error
	// Close frees what Commit has not.
	Close() error
}

// Files makes the files of an export in a tree, and counts them in a report.
type Files struct {
	Tree   Tree
	Report *spec.Report
	dirs   int64 // made
}

// Mkdir makes a directory.
func (f *Files) Mkdir(name string) error {
	err := f.Tree.mkdir(name)
	if err == nil {
		f.dirs++
	}
	return err
}

// Put makes a file with this content.
func (f *Files) Put(name string, data []byte) error {
	err := f.Tree.put(name, data)
	if err == nil {
		f.Report.Files++
		f.Report.Bytes += int64(len(data))
	}
	return err
}

// Create begins a file. If there is one, the error unwraps to fs.ErrExist.
func (f *Files) Create(name string) (*CountedFile, error) {
	file, err := f.Tree.create(name)
	if err != nil {
		return nil, err
	}
	f.Report.Files++
	return &CountedFile{File: file, report: f.Report}, nil
}

// Finish ends all files.
func (f *Files) Finish() error { return f.Tree.finish(f.Report.Files, f.dirs) }

// CountedFile is a file in progress. It counts its bytes in the report.
type CountedFile struct {
	File
	report *spec.Report
}

// Write implements io.Writer.
func (w *CountedFile) Write(p []byte) (int, error) {
	n, err := w.File.Write(p)
	w.report.Bytes += int64(n)
	return n, err
}

// End commits and closes the file.
func (w *CountedFile) End() error { return errors.Join(w.Commit(), w.Close()) }
