package npy

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// maxFortran is the largest compressed array in Fortran order, in bytes: all of it is needed for
// any of its rows.
const maxFortran = 1 << 30

// array is an array in a file.
type array struct {
	name string
	*header
	member *zip.File // nil in a .npy
	offset int64     // of the elements in the file; -1 if they are compressed
}

// compressed reports whether the array can only be read from its beginning.
func (a *array) compressed() bool { return a.offset < 0 }

// stream reads the elements of a compressed array from its beginning.
type stream struct {
	r   io.ReadCloser
	at  int64  // offset in the elements
	all []byte // the elements of an array in Fortran order
}

// openStream opens a compressed array after its header.
func (a *array) openStream(member *zip.File) (*stream, error) {
	r, err := member.Open()
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, r, a.length); err != nil {
		r.Close()
		return nil, endsEarly(err)
	}
	return &stream{r: r}, nil
}

func endsEarly(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the array ends before its elements")
	}
	return err
}

// elements reads bytes of elements, at an offset in them, in the order of the file.
type elements interface {
	readAt(ctx context.Context, a *array, dst []byte, offset int64) error
}

// plainElements reads arrays that are not compressed.
type plainElements struct{ storage.File }

func (p plainElements) readAt(_ context.Context, a *array, dst []byte, offset int64) error {
	n, err := p.ReadAt(dst, a.offset+offset)
	if n == len(dst) {
		return nil
	}
	return endsEarly(err)
}

// readRows returns elements of rows first up to end, in C order. They are in the capacity of buf
// if that is enough.
func (a *array) readRows(ctx context.Context, e elements, buf []byte, first, end int64) ([]byte, error) {
	width, size := a.width(), int64(a.size)
	n := (end - first) * width * size
	if n > maxBatch {
		return nil, fmt.Errorf("array %q: %d rows take %d bytes: at most %d are read together", a.name, end-first, n, int64(maxBatch))
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if n == 0 {
		return buf, nil
	}
	if !a.fortran || width == 1 {
		return buf, a.located(e.readAt(ctx, a, buf, first*width*size))
	}
	// Every element of a row is the beginning of a run of rows.
	run := make([]byte, (end-first)*size)
	index := make([]int64, len(a.shape)-1)
	for k := range width {
		column, stride := int64(0), int64(1)
		for i, n := range a.shape[1:] {
			column += index[i] * stride
			stride *= n
		}
		if err := e.readAt(ctx, a, run, (column*a.rows()+first)*size); err != nil {
			return nil, a.located(err)
		}
		for row := range end - first {
			copy(buf[(row*width+k)*size:][:size], run[row*size:])
		}
		for i := len(index) - 1; i >= 0; i-- {
			if index[i]++; index[i] < a.shape[i+1] {
				break
			}
			index[i] = 0
		}
	}
	return buf, nil
}

// located puts the name of the array before an error.
func (a *array) located(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("array %q: %w", a.name, err)
}
