package tfrecord

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// WriterOptions are options of a [Writer]; the zero value writes plain frames.
type WriterOptions struct {
	// Compression of the file. Default: None, which Auto means, too.
	Compression Compression
	// Level of compression: 1 to 9 for gzip and zlib, 1 to 22 for zstd. Default:
	// 0, the compression's own.
	Level int
	// BufferSize is how many bytes of frames are written at a time. Default:
	// 256 KiB.
	BufferSize int
}

// Writer writes records as a TFRecord file, a full buffer at a time. It is not
// safe for concurrent use.
//
// The first error is final: every later call returns it. The bytes of a file
// depend on its records and the options alone, compressed ones on Flush, too.
type Writer struct {
	out     io.Writer // the compressor, or the sink
	comp    compressor
	size    int              // of what is written at a time
	buf     []byte           // grows up to size: many files are smaller
	edge    [headerSize]byte // header or footer of a record that doesn't fit in buf
	records int64
	offset  int64
	err     error
}

// sink is what the Writer was given. After an error it takes no more, and it
// counts a short write as one, of which compressors would say nothing.
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

// compressor is what gzip, zlib and zstd writers have in common.
type compressor interface {
	io.WriteCloser
	Flush() error
}

// NewWriter returns a Writer to w. Nothing is written before a buffer is full,
// Flush or Close. An error means that the options are wrong.
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
	case Auto, None:
		most = 0
	case Zstd:
		most = 22
	}
	if level < 0 || level > most {
		return nil, fmt.Errorf("compression level %d: %v has levels 1 to %d, and 0 for the default", level, c, most)
	}
	switch c {
	case Auto, None:
		return nil, nil
	case Gzip:
		if level == 0 {
			level = gzip.DefaultCompression
		}
		return gzip.NewWriterLevel(w, level)
	case Zlib:
		if level == 0 {
			level = zlib.DefaultCompression
		}
		return zlib.NewWriterLevel(w, level)
	case Zstd:
		// One worker, for the same bytes on any machine; a frame even around
		// nothing, for an empty file to say what it is.
		opts := []zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true)}
		if level > 0 {
			opts = append(opts, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)))
		}
		return zstd.NewWriter(w, opts...)
	}
	return nil, fmt.Errorf("%w %v", ErrUnknownCompression, c)
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

// WriteFrames writes the given number of records that are framed already, as
// by [AppendFrame]. Neither number nor framing is checked.
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

// write fills the buffer to the brim before each flush, so that a compressor
// sees the same pieces however its input was cut into records or frames.
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

// emit hands p on.
func (w *Writer) emit(p []byte) {
	if len(p) == 0 {
		return
	}
	_, w.err = w.out.Write(p)
}

// Offset returns where the next record's frame begins in the uncompressed
// stream, which is how many bytes were written so far.
func (w *Writer) Offset() int64 { return w.offset }

// Records returns how many records were written so far.
func (w *Writer) Records() int64 { return w.records }

// Flush writes what is buffered. In a compressed file it ends a block, so that
// all records so far can be read; often done, it costs size.
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

// Close writes what is buffered and ends the compressed stream. It never closes
// what the Writer writes to. Closing again does nothing and returns nil;
// writing after it fails with [ErrClosed].
func (w *Writer) Close() error {
	if w.err == ErrClosed {
		return nil
	}
	w.flush()
	if w.comp != nil {
		// After an error, too: it frees the compressor.
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
