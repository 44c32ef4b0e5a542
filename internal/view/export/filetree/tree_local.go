package filetree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/set/compare"
)

// localTree is a tree in a directory.
type localTree struct {
	root     *os.Root
	finished bool // files are compared
}

func (t *localTree) mkdir(name string) error {
	name = filepath.FromSlash(name)
	if !t.finished {
		return t.root.Mkdir(name, 0o755)
	}
	st, err := t.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !st.IsDir() {
		err = compare.ErrDiffers
	}
	return err
}

func (t *localTree) put(name string, data []byte) error {
	f, err := t.create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Commit()
	}
	return errors.Join(err, f.Close())
}

func (t *localTree) create(name string) (File, error) {
	name = filepath.FromSlash(name)
	if !t.finished {
		file, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return nil, err
		}
		return &localFile{Writer: file, file: file}, nil
	}
	st, err := t.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !st.Mode().IsRegular() {
		err = compare.ErrDiffers
	}
	if err != nil {
		return nil, err
	}
	file, err := t.root.Open(name)
	if err != nil {
		return nil, err
	}
	same := compare.NewWriter(file)
	same.Strict = true
	return &comparedFile{same, file}, nil
}

func (t *localTree) finish(files, directories int64) error {
	if !t.finished {
		return syncTree(t.root, t.root.Name())
	}
	directories++ // the root
	err := fs.WalkDir(t.root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			directories--
		} else {
			files--
		}
		return err
	})
	if err == nil && (files != 0 || directories != 0) {
		err = compare.ErrDiffers
	}
	return err
}

func (t *localTree) Scratch() string { return filepath.Dir(t.root.Name()) }

// localFile is a file being written.
type localFile struct {
	io.Writer
	file   *os.File
	closed bool
}

func (f *localFile) Commit() error {
	f.closed = true
	return f.file.Close()
}

func (f *localFile) Close() error {
	if f.closed {
		return nil
	}
	return f.file.Close()
}

// comparedFile is an existing file to compare with the export.
type comparedFile struct {
	*compare.Writer
	io.Closer
}

func (f *comparedFile) Commit() error { return f.Finish() }
