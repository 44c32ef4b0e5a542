// Package compare compares written bytes with existing files: a run that finds its output can tell
// whether it is exactly what it would write.
package compare

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrDiffers means that the written bytes differ from the existing ones.
var ErrDiffers = errors.New("the content differs")

// Writer compares the bytes written to it with the bytes from a reader. It is not safe for
// concurrent use.
type Writer struct {
	// Strict makes Write fail with ErrDiffers from the first difference on. Default: only Equal
	// reports it.
	Strict bool

	in   *bufio.Reader
	buf  []byte
	diff bool
}

// NewWriter compares with in, to its end. A nil in differs from everything.
func NewWriter(in io.Reader) *Writer {
	if in == nil {
		return &Writer{diff: true}
	}
	return &Writer{in: bufio.NewReaderSize(in, 64<<10), buf: make([]byte, 64<<10)}
}

// Write implements io.Writer. An error other than ErrDiffers is the reader's.
func (w *Writer) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && !w.diff; {
		part := rest[:min(len(rest), len(w.buf))]
		rest = rest[len(part):]
		n, err := io.ReadFull(w.in, w.buf[:len(part)])
		if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, err
		}
		w.diff = !bytes.Equal(w.buf[:n], part)
	}
	if w.diff && w.Strict {
		return 0, ErrDiffers
	}
	return len(p), nil
}

// Differs reports whether a difference has been seen.
func (w *Writer) Differs() bool { return w.diff }

// Finish returns ErrDiffers unless all was equal and the reader is at its end.
func (w *Writer) Finish() error {
	equal, err := w.Equal()
	if err == nil && !equal {
		w.diff, err = true, ErrDiffers
	}
	return err
}

// Equal reports whether all was equal and the reader is at its end.
func (w *Writer) Equal() (bool, error) {
	if w.diff {
		return false, nil
	}
	_, err := w.in.ReadByte()
	if err == io.EOF {
		return true, nil
	}
	return false, err
}
