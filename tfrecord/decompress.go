package tfrecord

import (
	"bufio"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const (
	compressedBuffer = 128 << 10 // read size for the compressed file, in bytes
	zstdWindow       = 128 << 20 // default limit of the zstd command
)

// source is the given reader, after the bytes that detection consumed were put back. It keeps the
// reader's errors apart from those of a decompressor on top of it.
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
	in   *bufio.Reader // decompressors read single bytes
	gzip *gzip.Reader
	zlib zlibStreams
	zstd *zstd.Decoder
}

// open returns a reader of the decompressed content of src. An empty src decompresses to nothing.
func (d *decompressor) open(src io.Reader, c Compression) (r io.Reader, err error) {
	if d.in == nil {
		d.in = bufio.NewReaderSize(src, compressedBuffer)
	}
	d.in.Reset(src)
	if _, err := d.in.Peek(1); err != nil {
		return nil, err
	}
	switch c {
	case Gzip:
		if d.gzip == nil {
			d.gzip = new(gzip.Reader)
		}
		err = d.gzip.Reset(d.in)
		r = d.gzip
	case Zlib:
		err = d.zlib.reset(d.in)
		r = &d.zlib
	case Zstd:
		if d.zstd == nil {
			// One worker decodes in the caller's goroutine, so that none is left running.
			d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
		}
		if err == nil {
			err = d.zstd.Reset(d.in)
		}
		r = d.zstd
	default:
		err = fmt.Errorf("%w %v", ErrUnknownCompression, c)
	}
	if err == io.EOF { // there was a first byte
		err = io.ErrUnexpectedEOF
	}
	return r, err
}

func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
	*d = decompressor{}
}

// zlibStreams reads concatenated zlib streams. Trailing bytes that are not a stream are an error.
type zlibStreams struct {
	in  *bufio.Reader
	out io.ReadCloser
}

func (z *zlibStreams) reset(in *bufio.Reader) (err error) {
	z.in = in
	if z.out == nil {
		z.out, err = zlib.NewReader(in)
		return err
	}
	return z.out.(zlib.Resetter).Reset(in, nil)
}

func (z *zlibStreams) Read(p []byte) (int, error) {
	for {
		n, err := z.out.Read(p)
		if err != io.EOF {
			return n, err
		}
		if _, more := z.in.Peek(1); more != nil {
			return n, more
		}
		if err := z.reset(z.in); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return n, fmt.Errorf("after a zlib stream: %w", err)
		}
		if n > 0 {
			return n, nil
		}
	}
}
