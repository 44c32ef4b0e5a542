package splitlists

import (
	"context"
	"io/fs"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Files are the files of a source of images.
type Files interface {
	// ReadFile returns the content of a file, which has limit bytes at most, by its path in the
	// source. The error unwraps to fs.ErrNotExist if the file does not exist.
	ReadFile(ctx context.Context, name string, limit int64) ([]byte, error)
	// Path returns the path of a file in messages.
	Path(name string) string
}

// Directory returns the files below a directory.
func Directory(root storage.Location) Files { return directory{root} }

type directory struct{ root storage.Location }

// ReadFile implements Files. What cannot be a file has no content.
func (d directory) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	at := d.root.Join(name)
	if st, err := at.Stat(ctx); err != nil || !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: at.Path(), Err: fs.ErrNotExist}
	}
	return at.ReadFile(ctx, limit)
}

func (d directory) Path(name string) string { return d.root.Join(name).Path() }
