package fileset

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/codec/inflate"
	"github.com/tfrec/tfrec/tfrecord"
)

// unpacked gives access to any offset of a compressed file, provided the offsets are mostly
// ascending: it keeps a window of the data decompressed last, and starts over for anything before
// that.
type unpacked struct {
	file        io.Seeker
	from        io.Reader // the file
	compression tfrecord.Compression

	in      io.Reader
	free    func()
	window  []byte // from base on
	base    int64
	err     error // after the window
	rewinds int
}

// The window is keptBytes of earlier data, and stepBytes more.
const (
	keptBytes = 512 << 10
	stepBytes = 128 << 10
)

// maxRewinds is the maximum number of times a file is decompressed from the start. A record larger
// than the window takes two; a malicious file could require any number.
const maxRewinds = 64

// zstdWindow is the window limit of package tfrecord.
const zstdWindow = 128 << 20

var errRewinds = errors.New("too many false matches of long records to search on")

func newUnpacked(file io.Seeker, from io.Reader, c tfrecord.Compression) (*unpacked, error) {
	u := &unpacked{file: file, from: from, compression: c, window: make([]byte, 0, keptBytes+stepBytes)}
	return u, u.begin()
}

// begin goes back to the start.
func (u *unpacked) begin() error {
	u.close()
	if _, err := u.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	u.window, u.base, u.err = u.window[:0], 0, nil
	switch u.compression {
	case tfrecord.CompressionGzip, tfrecord.CompressionZlib:
		format := inflate.Gzip
		if u.compression == tfrecord.CompressionZlib {
			format = inflate.ZlibStreams
		}
		r, file := new(inflate.Reader), &inflate.File{Buffer: make([]byte, stepBytes)}
		file.Reset(u.from)
		r.Reset(file, format)
		u.in, u.free = r, func() {}
		return nil
	case tfrecord.CompressionZstd:
		// One worker decodes in the caller's goroutine, so that none is left running.
		r, err := zstd.NewReader(bufio.NewReaderSize(u.from, stepBytes), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return err
		}
		u.in, u.free = r, r.Close
		return nil
	}
	return fmt.Errorf("%w %v", tfrecord.ErrUnknownCompression, u.compression)
}

// ReadAt reads at an offset of the decompressed stream.
func (u *unpacked) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < u.base {
		if u.rewinds++; u.rewinds > maxRewinds {
			return 0, errRewinds
		}
		if err := u.begin(); err != nil {
			return 0, err
		}
	}
	for n < len(p) {
		at := offset + int64(n) - u.base
		if at < int64(len(u.window)) {
			n += copy(p[n:], u.window[at:])
			continue
		}
		if u.err != nil {
			return n, u.err
		}
		u.step()
	}
	return n, nil
}

// step advances the window.
func (u *unpacked) step() {
	if more := len(u.window) - keptBytes; more > 0 {
		u.base += int64(more)
		u.window = u.window[:copy(u.window, u.window[more:])]
	}
	for u.err == nil && len(u.window) < cap(u.window) {
		have := len(u.window)
		var n int
		n, u.err = u.in.Read(u.window[have:cap(u.window)])
		u.window = u.window[:have+n]
	}
}

// bad returns the error of the stream, if one was found.
func (u *unpacked) bad() error {
	if u.err == io.EOF {
		return nil
	}
	return u.err
}

// end is the offset after the window.
func (u *unpacked) end() int64 { return u.base + int64(len(u.window)) }

func (u *unpacked) close() {
	if u.free != nil {
		u.free()
		u.free = nil
	}
}
