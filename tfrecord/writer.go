package tfrecord

import (
	"bufio"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// WriterOptions are options of a [Writer]; the zero value writes plain frames.
type WriterOptions struct {
	// Compression of the file. Default: none, also for CompressionAuto.
	Compression Compression
	// Level of compression: 1 to 9 for gzip and zlib, 1 to 22 for zstd. Default: 0, the default of
	// the compression.
	Level int
	// BufferSize is the write size in bytes of frames. Default: 256 KiB.
	BufferSize int
}

// Writer writes records as a TFRecord file, a full buffer at a time. It is not safe for concurrent
// use.
//
// The first error is final: every later call returns it. The bytes of a file depend only on its
// records and the options and, if compressed, on calls of Flush.
type Writer struct {
	out     io.Writer // the compressor, or the sink
	comp    compressor
	size    int              // write size
	buf     []byte           // grows up to size, since many files are smaller
	edge    [headerSize]byte // header or footer of a record that does not fit into buf
	records int64
	offset  int64
	err     error
}

// sink wraps the underlying writer. After an error it accepts nothing more, and it turns a short
// write into an error, which compressors would not report.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	s.err = err
	return n, err
}

// compressor is the common interface of gzip, zlib and zstd writers.
type compressor interface {
	io.WriteCloser
	Flush() error
}

// packer is a compressor whose output, written some 250 bytes at a time, is buffered.
type packer struct {
	compressor
	out *bufio.Writer
}

func (p *packer) Flush() error {
	err := p.compressor.Flush()
	if err == nil {
		err = p.out.Flush()
	}
	return err
}

func (p *packer) Close() error {
	err := p.compressor.Close()
	if err == nil {
		err = p.out.Flush()
	}
	return err
}

// NewWriter returns a Writer to w. Nothing is written until a buffer is full, or until Flush or
// Close. An error means that the options are invalid.
func NewWriter(w io.Writer, opts WriterOptions) (*Writer, error) {
	if opts.BufferSize <= 0 {
		opts.BufferSize = defaultBuffer
	}
	out := &sink{w: w}
	comp, err := newCompressor(out, opts.Compression, opts.Level)
	if err != nil {
		return nil, err
	}
	t := &Writer{out: out, comp: comp, size: max(opts.BufferSize, minBuffer)}
	if comp != nil {
		t.out = comp
	}
	return t, nil
}

// newCompressor returns nil for plain files.
func newCompressor(w io.Writer, c Compression, level int) (compressor, error) {
	most := 9
	switch c {
	case CompressionAuto, CompressionNone:
		most = 0
	case CompressionZstd:
		most = 22
	}
	if level < 0 || level > most {
		return nil, fmt.Errorf("compression level %d: %v has levels 1 to %d, and 0 for the default", level, c, most)
	}
	if c == CompressionAuto || c == CompressionNone {
		return nil, nil
	}
	p := &packer{out: bufio.NewWriterSize(w, compressedBuffer)}
	var err error
	switch c {
	case CompressionGzip:
		if level == 0 {
			level = gzip.DefaultCompression
		}
		p.compressor, err = gzip.NewWriterLevel(p.out, level)
	case CompressionZlib:
		if level == 0 {
			level = zlib.DefaultCompression
		}
		p.compressor, err = zlib.NewWriterLevel(p.out, level)
	case CompressionZstd:
		// One worker, for the same bytes on any machine; a frame even for empty content, so that an
		// empty file can be recognized.
		opts := []zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true)}
		if level > 0 {
			opts = append(opts, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)))
		}
		p.compressor, err = zstd.NewWriter(p.out, opts...)
	default:
		err = fmt.Errorf("%w %v", ErrUnknownCompression, c)
	}
	return p, err
}

// WriteRecord writes p as one record.
func (w *Writer) WriteRecord(p []byte) error {
	size := len(p) + Overhead
	if w.err == nil && size <= w.size-len(w.buf) {
		w.buf = AppendFrame(w.buf, p)
	} else {
		w.write(appendHeader(w.edge[:0], uint64(len(p))))
		w.write(p)
		w.write(appendFooter(w.edge[:0], p))
	}
	return w.wrote(size, 1)
}

// WriteFrames writes the given number of records that are already framed, as by [AppendFrame].
// Neither number nor framing is checked.
func (w *Writer) WriteFrames(frames []byte, records int) error {
	w.write(frames)
	return w.wrote(len(frames), records)
}

func (w *Writer) wrote(size, records int) error {
	if w.err != nil {
		return w.err
	}
	w.offset += int64(size)
	w.records += int64(records)
	return nil
}

// write fills the buffer completely before each flush, so that a compressor gets the same chunks
// however its input was split into records or frames.
func (w *Writer) write(p []byte) {
	for w.err == nil && len(p) > w.size-len(w.buf) {
		if len(w.buf) == 0 && w.comp == nil {
			w.emit(p)
			return
		}
		n := w.size - len(w.buf)
		w.buf = append(w.buf, p[:n]...)
		p = p[n:]
		w.emit(w.buf)
		w.buf = w.buf[:0]
	}
	if w.err == nil {
		w.buf = append(w.buf, p...)
	}
}

// emit writes p to the output.
func (w *Writer) emit(p []byte) {
	if len(p) == 0 {
		return
	}
	_, w.err = w.out.Write(p)
}

// Offset returns where the next record's frame begins in the uncompressed stream, which is the
// number of bytes written so far.
func (w *Writer) Offset() int64 { return w.offset }

// Records returns the number of records written so far.
func (w *Writer) Records() int64 { return w.records }

// Flush writes buffered data. In a compressed file it ends a block, so that all records so far can
// be read; frequent calls make the file larger.
func (w *Writer) Flush() error {
	w.flush()
	if w.err == nil && w.comp != nil {
		w.err = w.comp.Flush()
	}
	return w.err
}

func (w *Writer) flush() {
	if w.err == nil {
		w.emit(w.buf)
		w.buf = w.buf[:0]
	}
}

// Close writes buffered data and ends the compressed stream. It does not close the underlying
// writer. Closing again does nothing and returns nil; writing after Close fails with [ErrClosed].
func (w *Writer) Close() error {
	if w.err == ErrClosed {
		return nil
	}
	w.flush()
	if w.comp != nil {
		// Also after an error: it releases the compressor.
		if err := w.comp.Close(); w.err == nil {
			w.err = err
		}
	}
	if w.err != nil {
		return w.err
	}
	w.err = ErrClosed
	return nil
}
