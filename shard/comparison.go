package shard

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/tfrec/tfrec/internal/storage"
)

// comparison is a writer that compares what is written to it with a file. Write
// fails where the file cannot be read.
type comparison struct {
	f      storage.File // nil: there is none
	in     *bufio.Reader
	buf    []byte
	strict bool // Write returns errDiffers
	diff   bool
}

// errDiffers says that a file is not what is compared with it.
var errDiffers = errors.New("the file differs")

// compareWith opens the file at path to be compared with. Without one everything
// differs.
func compareWith(ctx context.Context, path string) (*comparison, error) {
	f, err := openSequential(ctx, path)
	if notThere(err) {
		return &comparison{diff: true}, nil
	}
	if err != nil {
		return nil, err
	}
	return &comparison{f: f, in: bufio.NewReaderSize(&meter{ctx: ctx, f: f}, 64<<10), buf: make([]byte, 64<<10)}, nil
}

// missing reports whether there is no file to compare with.
func (c *comparison) missing() bool { return c.f == nil }

func (c *comparison) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && !c.diff; {
		part := rest[:min(len(rest), len(c.buf))]
		rest = rest[len(part):]
		n, err := io.ReadFull(c.in, c.buf[:len(part)])
		if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, err
		}
		c.diff = !bytes.Equal(c.buf[:n], part)
	}
	if c.diff && c.strict {
		return 0, errDiffers
	}
	return len(p), nil
}

// equal reports whether the file is just what was written.
func (c *comparison) equal() (bool, error) {
	if c.diff {
		return false, nil
	}
	_, err := c.in.ReadByte()
	if err == io.EOF {
		return true, nil
	}
	return false, err
}

func (c *comparison) close() {
	if c.f != nil {
		c.f.Close() // it was only read
	}
}

// sameContent compares two files, which may be one.
func sameContent(a, b string) (bool, error) {
	f, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer f.Close()
	first, err := f.Stat()
	if err != nil {
		return false, err
	}
	second, err := os.Stat(b)
	if err != nil {
		return false, err
	}
	if os.SameFile(first, second) || first.Size() != second.Size() {
		return first.Size() == second.Size(), nil
	}
	c, err := compareWith(context.Background(), b)
	if err != nil {
		return false, err
	}
	defer c.close()
	if _, err := io.Copy(c, f); err != nil {
		return false, err
	}
	return c.equal()
}
