package npy

import (
	"context"
	"fmt"
	"io"
	"time"

	"archive/zip"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
)

// streams reads the compressed arrays of a zip, each from its beginning on. It keeps the file open,
// and is for one goroutine.
type streams struct {
	file    storage.File
	members map[string]*zip.File
	open    map[string]*stream
}

// newStreams opens the file for calls with any context.
func (s *Source) newStreams(ctx context.Context) (*streams, error) {
	f, err := s.File.Open(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(f, s.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	t := &streams{file: f, members: map[string]*zip.File{}, open: map[string]*stream{}}
	for _, m := range z.File {
		t.members[m.Name] = m
	}
	return t, nil
}

func (t *streams) close() error {
	for _, s := range t.open {
		s.r.Close()
	}
	return t.file.Close()
}

// until ends reads when ctx is done, until the returned function is called. That function reports
// whether the streams can no longer be used.
func (t *streams) until(ctx context.Context) (after func() (broken bool)) {
	stop := context.AfterFunc(ctx, func() { t.file.SetReadDeadline(time.Unix(1, 0)) })
	return func() bool { return !stop() }
}

func (t *streams) readAt(ctx context.Context, a *array, dst []byte, offset int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !a.compressed() {
		return plainElements{t.file}.readAt(ctx, a, dst, offset)
	}
	s := t.open[a.name]
	if s == nil || s.all == nil && s.at > offset {
		member := t.members[a.name+suffix]
		if member == nil {
			return table.ErrChanged
		}
		var err error
		if s, err = a.openStream(member); err != nil {
			return err
		}
		if old := t.open[a.name]; old != nil {
			old.r.Close()
		}
		t.open[a.name] = s
	}
	if a.fortran && a.width() > 1 {
		if err := s.readAll(a); err != nil {
			return err
		}
		copy(dst, s.all[offset:])
		return nil
	}
	for s.at < offset {
		n, err := io.CopyN(io.Discard, s.r, min(offset-s.at, 1<<20))
		s.at += n
		if err != nil {
			return endsEarly(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	n, err := io.ReadFull(s.r, dst)
	s.at += int64(n)
	if err != nil {
		return endsEarly(err)
	}
	if s.at == a.bytes() {
		return s.finish()
	}
	return nil
}

// finish compares the array with its checksum.
func (s *stream) finish() error {
	var one [1]byte
	if n, err := s.r.Read(one[:]); n > 0 {
		return fmt.Errorf("bytes after the last element")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// readAll reads an array in Fortran order, with memory that grows as its bytes arrive.
func (s *stream) readAll(a *array) error {
	if s.all != nil {
		return nil
	}
	if a.bytes() > maxFortran {
		return fmt.Errorf("%d bytes, compressed and in Fortran order: at most %d are read; save it in C order", a.bytes(), int64(maxFortran))
	}
	all, err := io.ReadAll(io.LimitReader(s.r, a.bytes()))
	if err != nil {
		return err
	}
	if int64(len(all)) < a.bytes() {
		return endsEarly(io.EOF)
	}
	s.all = all
	return s.finish()
}
