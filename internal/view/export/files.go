package export

import (
	"errors"
	"io"
)

// outTree is the place of the files of an export: a directory, or the objects below a name in a store.
// In one that is finished, files are compared with those that are there, and a difference is
// compare.ErrDiffers. Names have "/".
type outTree interface {
	// mkdir makes a directory. If there is one, the error unwraps to fs.ErrExist.
	mkdir(name string) error
	// create begins a file. If there is one, the error unwraps to fs.ErrExist.
	create(name string) (treeFile, error)
	// put makes a file. Data may be changed when it has returned; errors may come from later calls.
	put(name string, data []byte) error
	// finish ends the tree, which must have just the files and directories that were made or
	// compared, and makes it durable.
	finish(files, directories int64) error
	// scratch returns the directory for temporary files; empty for the system's.
	scratch() string
}

// treeFile is a file in progress.
type treeFile interface {
	io.Writer
	// commit ends the file. One that is compared must have no more than what was written.
	commit() error
	// Close frees what commit has not.
	Close() error
}

// outFiles makes the files of an export in a tree, and counts them in a report.
type outFiles struct {
	tree   outTree
	report *Report
	dirs   int64 // made
}

// mkdir makes a directory.
func (f *outFiles) mkdir(name string) error {
	err := f.tree.mkdir(name)
	if err == nil {
		f.dirs++
	}
	return err
}

// put makes a file with this content.
func (f *outFiles) put(name string, data []byte) error {
	err := f.tree.put(name, data)
	if err == nil {
		f.report.Files++
		f.report.Bytes += int64(len(data))
	}
	return err
}

// create begins a file. If there is one, the error unwraps to fs.ErrExist.
func (f *outFiles) create(name string) (*outFile, error) {
	file, err := f.tree.create(name)
	if err != nil {
		return nil, err
	}
	f.report.Files++
	return &outFile{treeFile: file, report: f.report}, nil
}

// finish ends all files.
func (f *outFiles) finish() error { return f.tree.finish(f.report.Files, f.dirs) }

// outFile is a file in progress. It counts its bytes in the report.
type outFile struct {
	treeFile
	report *Report
}

// Write implements io.Writer.
func (w *outFile) Write(p []byte) (int, error) {
	n, err := w.treeFile.Write(p)
	w.report.Bytes += int64(n)
	return n, err
}

// end commits and closes the file.
func (w *outFile) end() error { return errors.Join(w.commit(), w.Close()) }
