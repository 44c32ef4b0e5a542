package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// MaxMember is the maximum size of a member that is read, in bytes.
const MaxMember = 256 << 20

// ErrFormat means that a file is not an archive.
var ErrFormat = errors.New("not an archive: want a tar file, plain or compressed with gzip or zstd, or a zip file")

// others are how files of other formats begin, and their names.
var others = []struct{ head, name string }{
	{"BZh", "bzip2"}, {"\xfd7zXZ\x00", "xz"}, {"LZIP", "lzip"}, {"7z\xbc\xaf\x27\x1c", "7z"}, {"Rar!", "RAR"},
}

// formatError returns ErrFormat, with the format if the head of a file tells a known one.
func formatError(head []byte) error {
	for _, f := range others {
		if bytes.HasPrefix(head, []byte(f.head)) {
			return fmt.Errorf("compressed with %s, which is not read: unpack it, and compress it with gzip or zstd if at all (%w)", f.name, ErrFormat)
		}
	}
	return ErrFormat
}

// errChanged means that an archive was replaced or written to since it was opened.
var errChanged = errors.New("the archive changed while it was read: start again")

// errCut means that an archive ends early.
var errCut = errors.New("the archive is cut short")

// Archive is an archive. It keeps no file open between calls, so any number of them can be in use.
// Walk must have returned before Read is called, which is then safe for concurrent use.
type Archive struct {
	at          storage.Location
	size        int64
	modTime     time.Time
	change      string         // on disk, as storage.Change has it; "" if it does not count
	object      storage.Object // what it is in an object store; without a version on disk
	isZip       bool
	compression compression
	entries     []*zip.File // of a zip, by position
}

// Kind is the kind of a member.
type Kind int

// The kinds of members.
const (
	File Kind = iota
	Directory
	Link    // symbolic or hard
	Special // a device, a FIFO, or unknown
)

// Member is one member of an archive.
type Member struct {
	// Name is as the archive has it: see Key.
	Name string
	Kind Kind
	// Size of the content in bytes, as the archive claims.
	Size int64
	// Fault is the reason why the content cannot be read. It is empty if it can.
	Fault string
	// Position identifies the member for Read. Positions of members increase.
	Position Position

	content func() (io.Reader, error)
	head    func(p []byte) (n int, err error)
}

// Head fills p with the first bytes of a member without a Fault, and returns their number, which is
// less than len(p) if the member is shorter. It must be called before Content, at most once.
func (m *Member) Head(p []byte) (n int, err error) {
	n, err = m.head(p)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n, err
}

// Content returns the content of a member without a Fault. It is valid until Walk's visit returns.
func (m *Member) Content() (io.Reader, error) { return m.content() }

// Position is where a member is.
type Position struct {
	at   int64 // offset of the content of a tar's member, index of a zip's
	size int64 // of the content
}

// Size of the content in bytes, as the archive claims.
func (p Position) Size() int64 { return p.size }

// Open opens the archive at a location, and recognises its format by its content. With trustTimes, a
// file on disk of the same size and modification time counts as unchanged. The error unwraps to
// ErrFormat for a file that is not an archive.
func Open(ctx context.Context, at storage.Location, trustTimes bool) (*Archive, error) {
	in, err := at.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	a := &Archive{at: at, size: info.Size(), modTime: info.ModTime()}
	a.object, _ = info.Sys().(storage.Object)
	if !trustTimes {
		a.change = storage.Change(info)
	}
	head := make([]byte, block)
	n, err := io.ReadFull(in, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%s: %w", at.Path(), err)
	}
	head = head[:n]
	if a.isZip = isZip(head); a.isZip {
		return a, nil
	}
	if a.compression = compressionOf(head); a.compression != none {
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		r, done, err := a.decompress(in)
		if err != nil {
			return nil, a.damaged(0, err)
		}
		defer done()
		head = make([]byte, block)
		n, err = io.ReadFull(r, head)
		head = head[:n]
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, a.damaged(0, err)
		}
	}
	if isTar(head) {
		return a, nil
	}
	if a.compression == none {
		if a.isZip, err = endsAsZip(in, a.size); err != nil {
			return nil, fmt.Errorf("%s: %w", at.Path(), err)
		}
	}
	if !a.isZip {
		return nil, fmt.Errorf("%s: %w", at.Path(), formatError(head))
	}
	return a, nil
}

// Path returns the archive's path as it was given.
func (a *Archive) Path() string { return a.at.Path() }

// Seekable reports whether members can be read by position. In a compressed tar they cannot.
func (a *Archive) Seekable() bool { return a.compression == none }

// Size of the file in bytes.
func (a *Archive) Size() int64 { return a.size }

// ModTime is when the file was written.
func (a *Archive) ModTime() time.Time { return a.modTime }

// Change of a file on disk, as storage.Change has it; "" in a store, or if times are trusted.
func (a *Archive) Change() string { return a.change }

// Version of the object, in an object store; empty on disk.
func (a *Archive) Version() string { return a.object.Version }

// Remote reports whether the archive is in an object store.
func (a *Archive) Remote() bool { return a.at.Remote() }

// Walk calls visit for each member, in the order of the archive, and ends with its error. An
// archive that is cut, or has data after its end, is an error after its last member; of a
// compressed tar also a wrong checksum.
func (a *Archive) Walk(ctx context.Context, visit func(*Member) error) error {
	in, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	if a.isZip {
		return a.walkZip(ctx, in, visit)
	}
	return a.walkTar(ctx, in, visit)
}

// Read returns the content of the member of a Seekable archive, in the capacity of buf if that is
// enough. A zip's is checked against its checksum.
func (a *Archive) Read(ctx context.Context, p Position, buf []byte) ([]byte, error) {
	if p.size > MaxMember {
		return nil, a.damaged(p.at, fmt.Errorf("the member is larger than %d bytes", MaxMember))
	}
	if a.isZip {
		var data []byte
		err := storage.Reread(ctx, a.Path(), func(ctx context.Context) (err error) {
			data, err = a.readEntry(ctx, a.entries[p.at], buf)
			return err
		})
		return data, err
	}
	buf = grow(buf, p.size)
	return buf, a.readAt(ctx, buf, p.at)
}

// grow returns size bytes, in the capacity of buf if that is enough.
func grow(buf []byte, size int64) []byte {
	if int64(cap(buf)) < size {
		return make([]byte, size)
	}
	return buf[:size]
}

// open opens the file again, and returns an error if it changed.
func (a *Archive) open(ctx context.Context) (storage.File, error) {
	if a.Remote() {
		return a.at.OpenListed(ctx, a.object)
	}
	in, err := a.at.Open(ctx)
	if err != nil {
		return nil, err
	}
	st, err := in.Stat()
	if err == nil && (st.Size() != a.size || !st.ModTime().Equal(a.modTime) || a.change != "" && storage.Change(st) != a.change) {
		err = fmt.Errorf("%s: %w", a.Path(), errChanged)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// readAt fills p from the offset on.
func (a *Archive) readAt(ctx context.Context, p []byte, offset int64) error {
	in, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	if n, err := in.ReadAt(p, offset); n < len(p) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return a.damaged(offset, err)
	}
	return nil
}

// damaged returns the error for a fault at an offset of the archive; of a compressed one, of its
// decompressed content.
func (a *Archive) damaged(offset int64, err error) error {
	var system *fs.PathError
	if errors.As(err, &system) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		err = errCut
	}
	of := ""
	if a.compression != none {
		of = " of the decompressed content"
	}
	return fmt.Errorf("%s: at byte %d%s: %w", a.Path(), offset, of, err)
}
