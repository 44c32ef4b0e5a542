package export

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/compare"
)

// outFiles makes the files of an export below a root or, where they are finished, compares them: a
// difference is compare.ErrDiffers. Names have "/".
type outFiles struct {
	root     *os.Root
	finished bool
	report   *Report
	dirs     int64 // made
}

// mkdir makes a directory.
func (f *outFiles) mkdir(name string) error {
	name = filepath.FromSlash(name)
	if f.finished {
		st, err := f.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !st.IsDir() {
			err = compare.ErrDiffers
		}
		if err != nil {
			return err
		}
	} else if err := f.root.Mkdir(name, 0o755); err != nil {
		return err
	}
	f.dirs++
	return nil
}

// put makes a file with this content.
func (f *outFiles) put(name string, data []byte) error {
	w, err := f.create(name)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	if closing := w.Close(); err == nil {
		err = closing
	}
	return err
}

// create makes a file. If there is one, the error unwraps to fs.ErrExist.
func (f *outFiles) create(name string) (*outFile, error) {
	name = filepath.FromSlash(name)
	w := &outFile{report: f.report}
	var err error
	if f.finished {
		st, err := f.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !st.Mode().IsRegular() {
			err = compare.ErrDiffers
		}
		if err != nil {
			return nil, err
		}
		if w.file, err = f.root.Open(name); err != nil {
			return nil, err
		}
		w.same = compare.NewWriter(w.file)
		w.same.Strict = true
		w.Writer = w.same
	} else {
		if w.file, err = f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
			return nil, err
		}
		w.Writer = w.file
	}
	f.report.Files++
	return w, nil
}

// checkNothingElse returns compare.ErrDiffers when there is more than was compared.
func (f *outFiles) checkNothingElse() error {
	var files, dirs int64
	err := fs.WalkDir(f.root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs++
		} else {
			files++
		}
		return err
	})
	if err == nil && (files != f.report.Files || dirs != f.dirs+1) {
		err = compare.ErrDiffers
	}
	return err
}

// outFile is a file in progress. It counts its bytes in the report.
type outFile struct {
	io.Writer
	file   *os.File
	same   *compare.Writer // nil unless the file is compared
	report *Report
}

// Write implements io.Writer.
func (w *outFile) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.report.Bytes += int64(n)
	return n, err
}

// Close ends the file, which must have no more than what was written.
func (w *outFile) Close() (err error) {
	if w.same != nil {
		var equal bool
		if equal, err = w.same.Equal(); err == nil && !equal {
			err = compare.ErrDiffers
		}
	}
	return errors.Join(err, w.file.Close())
}
