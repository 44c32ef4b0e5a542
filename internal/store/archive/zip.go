package archive

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"
)

// zipEnd is the signature of the record that ends a zip file.
const zipEnd = "PK\x05\x06"

// isZip reports whether a file begins like a zip: with a member, or with the end of an empty zip.
func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte(zipEnd))
}

// endsAsZip reports whether a file ends with the end record of a zip and its comment, as
// self-extracting archives do, which begin with a program.
func endsAsZip(in io.ReaderAt, size int64) (bool, error) {
	const record, maxComment = 22, math.MaxUint16
	tail := make([]byte, min(size, record+maxComment))
	if n, err := in.ReadAt(tail, size-int64(len(tail))); n < len(tail) {
		return false, err
	}
	for end := len(tail); ; {
		i := bytes.LastIndex(tail[:end], []byte(zipEnd))
		if i < 0 {
			return false, nil
		}
		if rest := tail[i:]; len(rest) >= record && int(binary.LittleEndian.Uint16(rest[record-2:])) == len(rest)-record {
			return true, nil
		}
		end = i
	}
}

// checkOverlap returns an error if two members of a zip share bytes. Such a file can expand to any
// multiple of its size. Without overlaps, no member expands to more than maxRatio times its
// compressed size, nor does the file.
func (a *Archive) checkOverlap(z *zip.Reader, files *switchedFile) error {
	defer func(in io.ReaderAt) { files.ReaderAt = in }(files.ReaderAt)
	files.ReaderAt = localHeader{}
	type span struct {
		from, to int64
		name     string
	}
	spans := make([]span, len(z.File))
	for i, f := range z.File {
		begin, err := f.DataOffset()
		if err != nil {
			return a.damaged(a.size, fmt.Errorf("member %q: %w", f.Name, err))
		}
		begin -= localHeaderSize
		// A member that claims more bytes than the file has is reported when it is read.
		size := min(f.CompressedSize64, uint64(a.size))
		spans[i] = span{begin, begin + localHeaderSize + int64(size), f.Name}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for i := 1; i < len(spans); i++ {
		if one, next := spans[i-1], spans[i]; next.from < one.to {
			return a.damaged(next.from, fmt.Errorf("the members %q and %q overlap, which no archiver writes: nothing is expanded", one.name, next.name))
		}
	}
	return nil
}

// localHeaderSize is the size of a member's local header without the name and extra fields.
const localHeaderSize = 30

// localHeader is a local header without a name at any offset. With it as the zip's file, DataOffset
// of a member is the position that the directory states, plus localHeaderSize, and nothing is read:
// a request for each member of a zip in a store would take too long.
type localHeader struct{}

func (localHeader) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	copy(p, "PK\x03\x04")
	return len(p), nil
}

// walkZip is Walk for a zip file.
func (a *Archive) walkZip(ctx context.Context, in io.ReaderAt, visit func(*Member) error) error {
	files := &switchedFile{ReaderAt: in}
	z, err := zip.NewReader(files, a.size)
	if err != nil {
		return a.damaged(a.size, err)
	}
	if err := a.checkOverlap(z, files); err != nil {
		return err
	}
	a.entries = z.File
	for i, f := range z.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		size := int64(min(f.UncompressedSize64, math.MaxInt64))
		m := Member{Name: f.Name, Size: size, Fault: zipFault(f), Position: Position{int64(i), size}}
		m.content = func() (io.Reader, error) {
			data, err := a.Read(ctx, m.Position, nil)
			return bytes.NewReader(data), err
		}
		m.head = func(p []byte) (int, error) {
			defer func(in io.ReaderAt) { files.ReaderAt = in }(files.ReaderAt)
			files.ReaderAt = &ahead{ReaderAt: in}
			return a.entryHead(f, p)
		}
		switch mode := f.Mode(); {
		case mode.IsDir():
			m.Kind = Directory
		case mode&fs.ModeSymlink != 0:
			m.Kind = Link
		case !mode.IsRegular():
			m.Kind = Special
		}
		if err := visit(&m); err != nil {
			return err
		}
	}
	files.ReaderAt = &reopened{ctx, a}
	return nil
}

// ahead is a file that is read some bytes ahead: in a store each read is a request.
type ahead struct {
	io.ReaderAt
	at   int64
	data []byte // the bytes from at on
}

func (r *ahead) ReadAt(p []byte, offset int64) (int, error) {
	const size = 8 << 10
	if from := offset - r.at; from < 0 || from+int64(len(p)) > int64(len(r.data)) {
		data := make([]byte, max(len(p), size))
		n, err := r.ReaderAt.ReadAt(data, offset)
		if r.at, r.data = offset, data[:n]; n < len(p) {
			return copy(p, r.data), err
		}
	}
	return copy(p, r.data[offset-r.at:]), nil
}

// entryHead is Member.Head for a zip's member. It decompresses no more than it needs.
func (a *Archive) entryHead(f *zip.File, p []byte) (int, error) {
	in, err := f.Open()
	if err != nil {
		return 0, a.damaged(0, fmt.Errorf("member %q: %w", f.Name, err))
	}
	defer in.Close()
	n, err := io.ReadFull(in, p)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		err = a.damaged(0, fmt.Errorf("member %q: %w", f.Name, err))
	}
	return n, err
}

// zipFault returns the reason why the content of a zip's member cannot be read, or "".
func zipFault(f *zip.File) string {
	switch {
	case f.Flags&1 != 0:
		return "it is encrypted"
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Sprintf("it is compressed by method %d: want stored or deflated members", f.Method)
	}
	return ""
}

// switchedFile is the zip's file: the open one during Walk.
type switchedFile struct{ io.ReaderAt }

// reopened opens the file for each read.
type reopened struct {
	ctx context.Context
	a   *Archive
}

func (r *reopened) ReadAt(p []byte, offset int64) (int, error) {
	if err := r.a.readAt(r.ctx, p, offset); err != nil {
		return 0, err
	}
	return len(p), nil
}

// packedBuffers holds buffers for compressed members, as *[]byte.
var packedBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPacked is the maximum size of a reused buffer.
const maxPacked = 8 << 20

// readEntry is Read for a zip's member.
func (a *Archive) readEntry(ctx context.Context, f *zip.File, buf []byte) ([]byte, error) {
	offset, err := f.DataOffset()
	if err != nil {
		return nil, a.damaged(0, fmt.Errorf("member %q: %w", f.Name, err))
	}
	fault := func(err error) error { return a.damaged(offset, fmt.Errorf("member %q: %w", f.Name, err)) }
	size, packed := f.UncompressedSize64, f.CompressedSize64
	if packed > uint64(a.size) || offset > a.size-int64(packed) {
		return nil, fault(io.ErrUnexpectedEOF)
	}
	if packed > MaxMember {
		return nil, fault(fmt.Errorf("its compressed data is larger than %d bytes", MaxMember))
	}
	if f.Method == zip.Store {
		if packed != size {
			return nil, fault(fmt.Errorf("its sizes differ: %d bytes, stored in %d", size, packed))
		}
		buf = grow(buf, int64(size))
		if err := a.readAt(ctx, buf, offset); err != nil {
			return nil, err
		}
	} else {
		data := packedBuffers.Get().(*[]byte)
		*data = grow(*data, int64(packed))
		if err = a.readAt(ctx, *data, offset); err == nil {
			if buf, err = unpack(*data, int64(size), buf); err != nil {
				err = fault(err)
			}
		}
		if cap(*data) <= maxPacked {
			packedBuffers.Put(data)
		}
		if err != nil {
			return nil, err
		}
	}
	if sum := crc32.ChecksumIEEE(buf); sum != f.CRC32 {
		return nil, fault(fmt.Errorf("its checksum is wrong: CRC-32 is %08x, want %08x", sum, f.CRC32))
	}
	return buf, nil
}

// unpack decompresses data, which must give exactly size bytes, into the capacity of buf if that
// is enough.
func unpack(data []byte, size int64, buf []byte) ([]byte, error) {
	if size > maxRatio*int64(len(data)) {
		return nil, fmt.Errorf("it cannot have %d bytes in %d compressed ones", size, len(data))
	}
	r := flate.NewReader(bytes.NewReader(data))
	defer r.Close()
	buf = grow(buf, size)
	if n, err := io.ReadFull(r, buf); err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("it has only %d of its %d bytes", n, size)
	} else if err != nil {
		return nil, err
	}
	var more [1]byte
	if n, err := io.ReadFull(r, more[:]); n > 0 {
		return nil, fmt.Errorf("it has more than its %d bytes", size)
	} else if err != io.EOF {
		return nil, err
	}
	return buf, nil
}
