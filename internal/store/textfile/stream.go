package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/codec/inflate"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Compression of a file, inferred from its first bytes.
type Compression string

// The compressions that are read.
const (
	None Compression = "none"
	Gzip Compression = "gzip"
	Zstd Compression = "zstd"
)

// compressedBuffer is the size of reads of a gzip file.
const compressedBuffer = 128 << 10

// maxWindow is the maximum window of a zstd stream, which bounds its memory.
const maxWindow = 128 << 20

// compressionOf infers the compression from the first bytes of a file.
func compressionOf(head []byte) Compression {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Zstd
	}
	return None
}

// Stream is the uncompressed content of a file from its start on.
type Stream struct {
	io.Reader
	file  storage.File
	close func()
}

// Close closes the file.
func (s *Stream) Close() {
	s.close()
	s.file.Close()
}

// newStream decompresses r. The stream's close frees the decompressor.
func newStream(r io.Reader, c Compression) (*Stream, error) {
	switch c {
	case Gzip:
		in := &inflate.File{Buffer: make([]byte, compressedBuffer)}
		in.Reset(r)
		z := new(inflate.Reader)
		z.Reset(in, inflate.Gzip)
		return &Stream{Reader: wholeReader{z}, close: func() {}}, nil
	case Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", noEOF(err))
		}
		return &Stream{Reader: wholeReader{z}, close: z.Close}, nil
	}
	return &Stream{Reader: r, close: func() {}}, nil
}

// errTruncated replaces a decompressor's io.ErrUnexpectedEOF, which io.ReadFull returns at the end
// of a whole stream.
var errTruncated = errors.New("the compressed file is cut short")

// wholeReader marks a compressed stream that ends too early, which
// io.ReadFull would pass off as a short but whole one.
type wholeReader struct{ r io.Reader }

func (w wholeReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("decompressing: %w", noEOF(err))
	}
	return n, err
}

// noEOF replaces an end of input inside a compressed stream.
func noEOF(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return errTruncated
	}
	return err
}
