package repair

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/tfrecord"
)

// unread is a range of a compressed file that could not be decompressed.
type unread struct {
	offset, bytes int64
	err           error
	// checksum means that everything was decompressed, but the checksum does not match.
	checksum bool
}

// inflater decompresses what it can of a file, which may have several streams: gzip members, zlib
// streams, zstd frames. Records have their own checksums, so data before a fault is useful. gzip
// and zlib use the standard library, which returns all data before the faulty bit.
type inflater struct {
	in    heldFile
	size  int64
	c     tfrecord.Compression
	limit tfrecord.Framing
	zstd  *zstd.Decoder // created lazily
	err   error         // of reading the file
}

func (x *inflater) ReadAt(p []byte, offset int64) (int, error) {
	n, err := x.in.ReadAt(p, offset)
	if err != nil && err != io.EOF && x.err == nil {
		x.err = err
	}
	return n, err
}

func (x *inflater) from(offset int64) io.Reader { return io.NewSectionReader(x, offset, 1<<62) }

func (x *inflater) close() {
	if x.zstd != nil {
		x.zstd.Close()
	}
}

// inflate writes what can be decompressed to out. The error is from reading the file or writing.
func (x *inflater) inflate(out io.Writer) (lost []unread, err error) {
	w := &stickyWriter{w: out}
	before := int64(0) // where the previous stream begins
	for at := int64(0); at < x.size; {
		if padded, err := x.padded(at); padded || err != nil {
			return lost, err
		}
		begin := at
		s, fault := x.open(at)
		if s == nil {
			if s = x.headerless(at); s != nil {
				lost = append(lost, unread{offset: at, bytes: s.base - at, err: fault})
			}
		}
		end := at
		if s != nil {
			_, fault = io.Copy(w, struct{ io.Reader }{s})
			end = s.end()
		}
		if err := errors.Join(w.err, x.err); err != nil {
			return nil, err
		}
		if checksum := errors.Is(fault, gzip.ErrChecksum) || errors.Is(fault, zlib.ErrChecksum); fault == nil || checksum {
			if checksum {
				lost = append(lost, unread{end - x.trailer(), x.trailer(), fault, true})
			}
			before, at = begin, end
			continue
		}
		if s == nil && x.c == tfrecord.CompressionZstd {
			// The end of the previous frame is only known from block sizes, which may be wrong.
			begin = before
		}
		if at, err = x.search(begin + 1); err != nil {
			return nil, err
		}
		before = at
		lost = append(lost, unread{offset: min(end, at), bytes: at - min(end, at), err: fault})
	}
	return lost, nil
}

// padded reports whether the rest of the file is the zeros that may follow the last gzip member.
func (x *inflater) padded(at int64) (bool, error) {
	if x.c != tfrecord.CompressionGzip || at == 0 {
		return false, nil
	}
	p := make([]byte, 4<<10)
	for at < x.size {
		n, err := x.ReadAt(p[:min(int64(len(p)), x.size-at)], at)
		if len(bytes.TrimLeft(p[:n], "\x00")) > 0 {
			return false, nil
		}
		at += int64(n)
		if err != nil && err != io.EOF {
			return false, err
		}
		if n == 0 {
			break
		}
	}
	return true, nil
}

// trailer returns the number of bytes after the compressed data of a stream.
func (x *inflater) trailer() int64 {
	if x.c == tfrecord.CompressionGzip {
		return 8
	}
	return 4
}

// search returns the first offset, from the given one, where a stream begins: one whose data begins
// with a frame header, or that can be decompressed to its end.
func (x *inflater) search(offset int64) (int64, error) {
	const window = 64 << 10
	p := make([]byte, window)
	for offset < x.size {
		n, err := x.ReadAt(p, offset)
		if err != nil && err != io.EOF {
			return 0, err
		}
		for i := range n {
			if !x.magic(p[i:n]) {
				continue
			}
			good, err := x.trial(offset + int64(i))
			if good || err != nil {
				return offset + int64(i), err
			}
		}
		if n < window {
			break
		}
		offset += window - 3 // a magic number may be cut at the end of the window
	}
	return x.size, nil
}

// magic reports whether p has the magic number of a stream.
func (x *inflater) magic(p []byte) bool {
	switch x.c {
	case tfrecord.CompressionGzip:
		return bytes.HasPrefix(p, []byte{0x1f, 0x8b, 8})
	case tfrecord.CompressionZlib:
		return len(p) >= 2 && p[0] == 0x78 && binary.BigEndian.Uint16(p)%31 == 0
	default:
		return bytes.HasPrefix(p, []byte{0x28, 0xb5, 0x2f, 0xfd})
	}
}

func (x *inflater) trial(offset int64) (good bool, err error) {
	s, _ := x.open(offset)
	if s == nil {
		return false, x.err
	}
	var head [tfrecord.HeaderSize]byte
	_, fault := io.ReadFull(s, head[:])
	if fault == nil {
		if _, v := x.limit.Check(head[:]); v != tfrecord.FrameBroken {
			return true, nil
		}
		_, fault = io.Copy(io.Discard, struct{ io.Reader }{s})
	}
	if x.err != nil {
		return false, x.err
	}
	return fault == nil || fault == io.EOF, nil
}

// openStream is a stream being decompressed.
type openStream struct {
	io.Reader
	src  *countedFile
	in   *bufio.Reader // nil if the decompressor reads src itself
	base int64         // offset where src begins
	skip int64         // bytes after the end of the decompressor's input
}

func (s *openStream) end() int64 {
	n := s.base + s.src.n + s.skip
	if s.in != nil {
		n -= int64(s.in.Buffered())
	}
	return n
}

// open opens the stream at offset. It returns nil and an error if no stream begins there.
func (x *inflater) open(offset int64) (*openStream, error) {
	s := &openStream{src: &countedFile{r: x.from(offset)}, base: offset}
	if x.c == tfrecord.CompressionZstd {
		return x.openZstd(s)
	}
	s.in = bufio.NewReaderSize(s.src, 64<<10)
	var err error
	if x.c == tfrecord.CompressionGzip {
		var z *gzip.Reader
		if z, err = gzip.NewReader(s.in); err == nil {
			z.Multistream(false)
			s.Reader = z
		}
	} else {
		s.Reader, err = zlib.NewReader(s.in)
	}
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return s, nil
}

func (x *inflater) openZstd(s *openStream) (*openStream, error) {
	// The decoder would report this only when reading.
	var head [zstd.HeaderMaxSize]byte
	n, _ := x.ReadAt(head[:], s.base)
	if err := new(zstd.Header).Decode(head[:n]); err != nil {
		return nil, err
	}
	var err error
	if x.zstd == nil {
		x.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20),
			// Verifying checksums would drop the last block of a frame with a wrong checksum.
			zstd.IgnoreChecksum(true))
		if err != nil {
			return nil, err
		}
	}
	// The decoder would continue with the next frame: limit it to one.
	if size := x.zstdFrame(s.base); size > 0 {
		s.src.r = io.LimitReader(s.src.r, size)
	}
	if err = x.zstd.Reset(s.src); err != nil {
		return nil, err
	}
	s.Reader = x.zstd
	return s, nil
}

// zstdFrame returns the size of the zstd frame at offset according to its block headers; 0 if they
// are invalid.
func (x *inflater) zstdFrame(offset int64) int64 {
	var head [zstd.HeaderMaxSize]byte
	n, _ := x.ReadAt(head[:], offset)
	var h zstd.Header
	if h.Decode(head[:n]) != nil {
		return 0
	}
	if h.Skippable {
		return int64(h.HeaderSize) + int64(h.SkippableSize)
	}
	end := offset + int64(h.HeaderSize)
	for last := false; !last; {
		var b [4]byte
		if n, _ := x.ReadAt(b[:3], end); n < 3 {
			return 0
		}
		block := binary.LittleEndian.Uint32(b[:])
		last = block&1 != 0
		end += 3
		switch block >> 1 & 3 {
		case 0, 2: // raw, compressed
			end += int64(block >> 3)
		case 1: // RLE: one byte
			end++
		default:
			return 0
		}
	}
	if h.HasCheckSum {
		end += 4
	}
	if end > x.size {
		return 0
	}
	return end - offset
}

// countedFile counts the bytes read, and separates read errors from errors of a decompressor on top
// of it.
type countedFile struct {
	r   io.Reader
	n   int64
	err error // except io.EOF
}

func (c *countedFile) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// stickyWriter separates write errors from read errors.
type stickyWriter struct {
	w   io.Writer
	err error
}

func (s *stickyWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		s.err = fmt.Errorf("write what was decompressed: %w", err)
	}
	return n, s.err
}

// headerless opens the deflate stream after a damaged gzip or zlib header of the usual size at
// offset, if its data begins with a frame. It returns nil otherwise.
func (x *inflater) headerless(offset int64) *openStream {
	head := int64(10)
	switch x.c {
	case tfrecord.CompressionZlib:
		head = 2
	case tfrecord.CompressionZstd:
		return nil
	}
	begin := func() *openStream {
		s := &openStream{src: &countedFile{r: x.from(offset + head)}, base: offset + head, skip: x.trailer()}
		s.in = bufio.NewReaderSize(s.src, 64<<10)
		s.Reader = flate.NewReader(s.in)
		return s
	}
	var first [tfrecord.HeaderSize]byte
	if _, err := io.ReadFull(begin(), first[:]); err != nil {
		return nil
	}
	if _, v := x.limit.Check(first[:]); v == tfrecord.FrameBroken {
		return nil
	}
	return begin()
}
