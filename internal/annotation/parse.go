package annotation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/regular"
	"github.com/tfrec/tfrec/internal/store/storage"
)

const (
	// maxMemory bounds the memory of files that are parsed at a time, in bytes; a file that needs
	// more is parsed alone.
	maxMemory = 512 << 20
	// keptBuffer is the maximum size of a buffer that is reused.
	keptBuffer = 1 << 20
)

// Format is a format with a file for each image.
type Format struct {
	// Name is the value for Set.Format, and Ext the extension of files, such as ".xml".
	Name, Ext string
	// Limit is the maximum size of a file in bytes.
	Limit int64
	// Memory is the maximum number of bytes that a byte of a file takes while it is parsed: itself
	// and the needs of parsing, without the objects, which stay.
	Memory int64
	// Parse adds the annotations of a file to an image, which already has the Name and Source of
	// the file. The data is valid until it returns. An error makes the image unreadable, without
	// objects and faults. It is called concurrently.
	Parse func(im *Image, data []byte) error
}

// Read reads the files of a directory, local or in a store. Files that are too large, or not regular,
// and links to nothing, are unreadable images; other errors of reading are returned.
func (f *Format) Read(ctx context.Context, dir string, o Options) (*Set, error) {
	d, err := List(ctx, dir, func(base string) bool { return HasExt(base, f.Ext) })
	if err != nil {
		return nil, err
	}
	return f.ReadFiles(ctx, d, o)
}

// ReadFiles is Read for a directory that is listed already, with files of the format alone. If some
// of them are in directories in which the format keeps annotations, such as "labels", the others
// are left out.
func (f *Format) ReadFiles(ctx context.Context, d *Directory, o Options) (*Set, error) {
	d.narrow(f.Name)
	if len(d.Files) == 0 && len(d.Links) == 0 {
		return nil, d.Errorf("it has no %s files, which are the annotations of %s", f.Ext, f.Name)
	}
	s := &Set{Format: f.Name, Images: make([]Image, len(d.Files)), Faults: d.faults()}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	budget := par.NewBudget(maxMemory)
	workers := o.Workers
	if d.at.Remote() { // they mostly wait
		ctx, workers = storage.Limited(ctx), max(workers, storage.MostRequests())
	}
	par.ForEach(ctx, len(d.Files), workers, func(next func() (int, bool)) {
		var buf []byte
		for i, ok := next(); ok; i, ok = next() {
			var err error
			if buf, err = d.parse(ctx, f, i, &s.Images[i], budget, buf); err != nil {
				cancel(err)
				return
			}
			if cap(buf) > keptBuffer {
				buf = nil
			}
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	slices.SortStableFunc(s.Images, func(a, b Image) int { return cmp.Compare(a.Name, b.Name) }) // Parse may change it
	return s, nil
}

// parse reads file i to im. It returns buf or a larger buffer.
func (d *Directory) parse(ctx context.Context, f *Format, i int, im *Image, budget *par.Budget, buf []byte) ([]byte, error) {
	file := &d.Files[i]
	*im = Image{Name: file.Name, Source: file.Name}
	err := d.read(ctx, f, file, budget, buf, func(data []byte) {
		buf = data
		if err := f.Parse(im, data); err != nil {
			*im = Image{Name: file.Name, Source: file.Name, Unreadable: shorten(err.Error())}
		}
	})
	switch {
	case errors.Is(err, regular.ErrTooLarge):
		im.Unreadable = fmt.Sprintf("it has more than %s", plural.Of(f.Limit, "byte"))
	case errors.Is(err, regular.ErrNotRegular):
		im.Unreadable = "it is not a regular file"
	case file.link && storage.Missing(err):
		im.Unreadable = "it is a symbolic link to a file that does not exist"
	case err != nil:
		return nil, err
	}
	return buf, nil
}

// read calls use with a file's contents, in the capacity of buf or a larger buffer.
func (d *Directory) read(ctx context.Context, f *Format, file *File, budget *par.Budget, buf []byte, use func([]byte)) error {
	opened, size, err := d.open(ctx, file)
	if err != nil {
		return err
	}
	if opened != nil {
		defer opened.Close()
	}
	if size > f.Limit {
		return regular.ErrTooLarge
	}
	memory := size * f.Memory
	if err := budget.Acquire(ctx, memory); err != nil {
		return context.Cause(ctx)
	}
	defer budget.Release(memory)
	if opened == nil {
		buf, err = d.at.Join(file.Name).ReadListed(ctx, file.object, buf)
	} else {
		buf, err = readAll(opened, size, buf)
	}
	if err == nil {
		use(buf)
	}
	return err
}

// open opens a local file. It does not open a file in a store, which is read by a single request.
func (d *Directory) open(ctx context.Context, file *File) (storage.File, int64, error) {
	if d.at.Remote() {
		return nil, file.object.Size, nil
	}
	f, err := d.at.Join(file.Name).Open(ctx)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// readAll reads a file, which must keep its size.
func readAll(f storage.File, size int64, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], int(size)+1)[:size+1]
	n, err := io.ReadFull(f, buf)
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, err
	case int64(n) != size:
		return nil, fmt.Errorf("%s changed its size while it was read: want %d bytes", f.Name(), size)
	}
	return buf[:n], nil
}
