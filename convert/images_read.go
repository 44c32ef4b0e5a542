package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
)

// withoutPath removes the path from a file error: the ledger names its source relative to the
// source directory, whatever the machine.
func withoutPath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Op, pe.Err)
	}
	return err
}

// read reads an image and returns its identity. The bytes are valid until the next image.
func (s *imageSource) read(ctx context.Context, m *sampleWork, pic *imageFile) (data []byte, hash string, in setdir.Input, err error) {
	var st os.FileInfo // of a file
	switch {
	case m.fetched != nil && m.fetched.pic == pic:
		data, err = m.fetched.wait()
	case s.root.Remote():
		m.file, err = s.readStored(ctx, pic, m.file)
		data = m.file
	default:
		data, st, err = m.readFile(ctx, s.at(pic))
	}
	if err != nil {
		return nil, "", setdir.Input{}, err
	}
	hash = hashHex(data)
	if st != nil {
		return data, hash, pic.file(hash, st), nil
	}
	return data, hash, pic.object(hash), nil
}

// readFile reads a file; the size and time it returns are from before the read. The bytes are valid
// until the next read.
func (m *sampleWork) readFile(ctx context.Context, file storage.Location) ([]byte, os.FileInfo, error) {
	f, err := file.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, nil, errors.New("not a file")
	}
	if st.Size() > maxStored {
		return nil, nil, errSize
	}
	n := int(st.Size())
	if cap(m.file) <= n {
		m.file = make([]byte, n+n/4+512)
	}
	// One extra byte detects a file that grows.
	buf := m.file[:n+1]
	got, err := io.ReadFull(f, buf)
	if err != io.ErrUnexpectedEOF && err != io.EOF && err != nil {
		return nil, nil, err
	}
	if got != n {
		return nil, nil, fmt.Errorf("the file changed while it was read: %s, then %d", plural.Of(n, "byte"), got)
	}
	return buf[:n], st, nil
}
