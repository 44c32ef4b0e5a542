package tfrecord

import (
	"bufio"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/codec/inflate"
)

const (
	compressedBuffer = 128 << 10 // read and write size of compressed files, in bytes
	zstdWindow       = 128 << 20 // default limit of the zstd command
)

// source is the given reader, after the bytes that detection consumed were put back. It keeps the
// reader's errors apart from errors of a decompressor on top of it.
type source struct {
	r    io.Reader
	head []byte
	err  error // first error of r other than io.EOF
}

func (s *source) Read(p []byte) (int, error) {
	if len(s.head) > 0 {
		n := copy(p, s.head)
		s.head = s.head[n:]
		return n, nil
	}
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF && s.err == nil {
		s.err = err
	}
	return n, err
}

// decompressor holds a decompressor of each kind used so far, for reuse on the next file.
type decompressor struct {
	inflate *inflate.Reader // gzip and zlib
	pieces  inflate.File
	in      *bufio.Reader // zstd reads single bytes
	zstd    *zstd.Decoder
}

// open returns a reader of the decompressed content of src, which may be several streams. An empty src
// decompresses to nothing.
func (d *decompressor) open(src io.Reader, c Compression) (r io.Reader, err error) {
	switch c {
	case CompressionGzip, CompressionZlib:
		if d.inflate == nil {
			d.inflate = new(inflate.Reader)
			d.pieces.Buffer = make([]byte, compressedBuffer)
		}
		format := inflate.Gzip
		if c == CompressionZlib {
			format = inflate.ZlibStreams
		}
		d.pieces.Reset(src)
		d.inflate.Reset(&d.pieces, format)
		return d.inflate, nil
	case CompressionZstd:
		return d.openZstd(src)
	}
	return nil, fmt.Errorf("%w %v", ErrUnknownCompression, c)
}

func (d *decompressor) openZstd(src io.Reader) (r io.Reader, err error) {
	if d.in == nil {
		d.in = bufio.NewReaderSize(src, compressedBuffer)
	}
	d.in.Reset(src)
	if _, err := d.in.Peek(1); err != nil {
		return nil, err
	}
	if d.zstd == nil {
		// One worker decodes in the caller's goroutine, so that none is left running.
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	}
	if err == nil {
		err = d.zstd.Reset(d.in)
	}
	if err == io.EOF { // there was a first byte
		err = io.ErrUnexpectedEOF
	}
	return d.zstd, err
}

func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
	*d = decompressor{}
}
