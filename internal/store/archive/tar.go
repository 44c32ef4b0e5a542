package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// block is the unit of a tar file in bytes.
const block = 512

// isTar reports whether the first bytes of a file are a tar's: a header whose checksum is right, or
// the end of an empty one.
func isTar(head []byte) bool {
	if len(head) < block {
		return false
	}
	const from, to = 148, 156 // the checksum, which counts as spaces
	sum := int64((to - from) * ' ')
	for i, c := range head[:block] {
		if i < from || i >= to {
			sum += int64(c)
		}
	}
	if sum == (to-from)*' ' {
		return true // only zeros
	}
	want, err := strconv.ParseInt(string(bytes.Trim(head[from:to], " \x00")), 8, 64)
	return err == nil && sum == want
}

// walkTar is Walk for a tar file.
func (a *Archive) walkTar(ctx context.Context, in storage.File, visit func(*Member) error) error {
	at := &counter{ctx: ctx}
	var stream io.Reader = at
	if a.compression == none {
		at.r, stream = in, &seekingCounter{at, in}
	} else {
		r, done, err := a.decompress(storage.Whole(in))
		if err != nil {
			return a.damaged(0, err)
		}
		defer done()
		at.r = r
	}
	next := int64(0) // where the next header begins
	last := ""       // name of the last member
	for t := tar.NewReader(stream); ; {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return a.damaged(next, err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			next = at.n
			continue
		}
		last = h.Name
		m := Member{Name: h.Name, Position: Position{at.n, h.Size}, Size: h.Size}
		content := io.Reader(&memberReader{a, t, at})
		m.content = func() (io.Reader, error) { return content, nil }
		m.head = func(p []byte) (int, error) {
			n, err := io.ReadFull(content, p)
			content = io.MultiReader(bytes.NewReader(bytes.Clone(p[:n])), content)
			return n, err
		}
		next = at.n
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
			m.Fault = faultOf(h)
			if m.Fault == "" {
				next += (h.Size + block - 1) / block * block
			}
		case tar.TypeDir:
			m.Kind = Directory
		case tar.TypeLink, tar.TypeSymlink:
			m.Kind = Link
		default:
			m.Kind = Special
		}
		if err := visit(&m); err != nil {
			return err
		}
	}
	if at.n <= next {
		return a.damaged(next, fmt.Errorf("the archive ends after the member %q, without the two blocks of zeros that end a tar file: either it is cut short there, or its writer did not close it; in that case append 1024 zeros to it", last))
	}
	return a.onlyZeros(at)
}

// faultOf returns the reason why the content of a tar's file cannot be read, or "".
func faultOf(h *tar.Header) string {
	sparse := h.Typeflag == tar.TypeGNUSparse
	for key := range h.PAXRecords {
		sparse = sparse || strings.HasPrefix(key, "GNU.sparse.")
	}
	if sparse {
		return "it is stored as a sparse file: write it in full"
	}
	return ""
}

// onlyZeros reads the rest of a tar file, which also checks the checksums of a compressed one.
func (a *Archive) onlyZeros(rest *counter) error {
	buf := make([]byte, 64<<10)
	for {
		from := rest.n
		n, err := rest.Read(buf)
		if i := bytes.IndexFunc(buf[:n], func(r rune) bool { return r != 0 }); i >= 0 {
			return a.damaged(from+int64(i), errors.New("there is data after the end of the archive: if archives were concatenated, give them as files of their own"))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return a.damaged(rest.n, err)
		}
	}
}

// counter counts the bytes read.
type counter struct {
	ctx context.Context
	r   io.Reader
	n   int64
}

func (c *counter) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// seekingCounter is a counter that skips content.
type seekingCounter struct {
	*counter
	s io.Seeker
}

func (c *seekingCounter) Seek(offset int64, whence int) (int64, error) {
	n, err := c.s.Seek(offset, whence)
	if err == nil {
		c.n = n
	}
	return n, err
}

// memberReader is the content of a tar's member, whose errors name the archive.
type memberReader struct {
	a  *Archive
	r  io.Reader
	at *counter
}

func (m *memberReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err != nil && err != io.EOF {
		err = m.a.damaged(m.at.n, err)
	}
	return n, err
}
