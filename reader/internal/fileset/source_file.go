package fileset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// ErrChanged means that a file is not the same as when its [Set] was opened. The error that unwraps
// to it is an [*fs.PathError].
var ErrChanged = errors.New("the file was changed while it was in use")

// stamp identifies a source while its Set is in use.
type stamp struct {
	at   storage.Location
	info fs.FileInfo
	ends uint64 // hash of the beginning and the end,
	seen bool   // ends is set
	// told is the end of the records in the index file, or 0 without an index file. It is valid if
	// asked is set.
	told  int64
	asked bool
}

// stampFiles stats all sources without opening them. Those in object stores, which are slow to
// answer, are requested concurrently.
func (s *files) stampFiles(ctx context.Context) error {
	s.stamps = make([]stamp, len(s.sources))
	var g errgroup.Group
	g.SetLimit(storage.MostRequests())
	ctx = storage.Limited(ctx)
	for i := range s.sources {
		at := storage.Parse(s.sources[i].Path)
		s.stamps[i].at = at
		look := func() (err error) {
			s.stamps[i].info, err = at.Stat(ctx)
			return err
		}
		if at.Remote() {
			g.Go(look)
		} else if err := look(); err != nil {
			g.Go(func() error { return err })
			break
		}
	}
	return g.Wait()
}

// Regular reports whether source i is a regular file rather than a pipe.
func (s *files) Regular(i int) bool { return s.stamps[i].info.Mode().IsRegular() }

// OpenFile opens source i, if it is unchanged.
func (s *files) OpenFile(ctx context.Context, i int) (storage.File, error) {
	at := s.stamps[i].at
	open := at.OpenStream
	if s.sources[i].Set != nil {
		open = at.Open // a member of a set is a regular file
	}
	f, err := open(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.Unchanged(i, f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// OpenAnywhere opens source i for random access. This sends no request to an object store: reads
// return the data of the recorded version or an error.
func (s *files) OpenAnywhere(ctx context.Context, i int) (storage.File, error) {
	if is, ok := s.stamps[i].info.Sys().(storage.Object); ok && is.Version != "" {
		return s.stamps[i].at.OpenListed(ctx, is)
	}
	return s.OpenFile(ctx, i)
}

// Size returns the total size of the files.
func (s *files) Size() (n int64) {
	for _, is := range s.stamps {
		n += is.info.Size()
	}
	return n
}

// Stored reports whether the files are in an object store.
func (s *files) Stored() bool {
	return slices.ContainsFunc(s.stamps, func(is stamp) bool { return is.at.Remote() })
}

// Unchanged returns an error that describes how an open file differs from source i. A file with the
// same metadata but another identity is compared by its first and last bytes: there are file
// systems that renumber their files.
func (s *files) Unchanged(i int, f storage.File) error {
	was := s.stamps[i].info
	if !was.Mode().IsRegular() {
		return nil
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	what := ""
	wasObject, remote := was.Sys().(storage.Object)
	switch {
	case remote:
		if is, ok := now.Sys().(storage.Object); ok && is.Version == wasObject.Version {
			return nil
		}
		what = "the object was replaced"
	case !now.Mode().IsRegular():
		what = "it is no longer a regular file"
	case now.Size() != was.Size():
		what = fmt.Sprintf("it had %s, and has %d", plural.Of(was.Size(), "byte"), now.Size())
	case !now.ModTime().Equal(was.ModTime()):
		what = fmt.Sprintf("it was last written at %s, and now at %s", stampTime(was.ModTime()), stampTime(now.ModTime()))
	default:
		same, err := s.sameEnds(i, f, os.SameFile(was, now))
		if err != nil || same {
			return err
		}
		what = "it was replaced by another file of the same size and time"
	}
	return s.changed(i, what)
}

// changed returns the error for source i, of which something is not as it was.
func (s *files) changed(i int, what string) error {
	return &fs.PathError{Op: "read", Path: s.sources[i].Path, Err: fmt.Errorf(
		"%w: %s; do not change files while they are read; open the set again, and start from its beginning", ErrChanged, what)}
}

func stampTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999999Z") }

// sameEnds compares the ends of source i with those recorded. They are read once, and again if the
// file is another one.
func (s *files) sameEnds(i int, f storage.File, file bool) (bool, error) {
	s.mu.Lock()
	was := s.stamps[i]
	s.mu.Unlock()
	if file && was.seen {
		return true, nil
	}
	ends, err := appendEnds(nil, f, was.info.Size())
	if err != nil {
		return false, err
	}
	sum := xxh3.Hash(ends)
	if was.seen {
		return sum == was.ends, nil
	}
	s.mu.Lock()
	s.stamps[i].ends, s.stamps[i].seen = sum, true
	s.mu.Unlock()
	return true, nil
}

// EndsSize is the size in bytes of each end of a file that the fingerprint covers.
const EndsSize = 4 << 10

// appendEnds appends the beginning and the end of a file of size bytes.
func appendEnds(dst []byte, f storage.File, size int64) ([]byte, error) {
	var ends [EndsSize]byte
	for _, offset := range []int64{0, max(0, size-EndsSize)} {
		n, err := f.ReadAt(ends[:], offset)
		if err != nil && err != io.EOF {
			return nil, err
		}
		dst = append(dst, ends[:n]...)
	}
	return dst, nil
}

// IsPlain reports whether a file can be read from any offset: it is a regular file and not
// compressed. A file that is neither framed nor compressed counts as plain, as in package tfrecord.
func IsPlain(f storage.File, o tfrecord.ReaderOptions) (plain bool, size int64, err error) {
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return false, 0, err
	}
	if o.Compression != tfrecord.CompressionAuto {
		return o.Compression == tfrecord.CompressionNone, st.Size(), nil
	}
	var header [tfrecord.HeaderSize]byte
	n, err := f.ReadAt(header[:], 0)
	if err != nil && err != io.EOF {
		return false, 0, err
	}
	anyLength := tfrecord.Framing{Checksum: tfrecord.ChecksumLength, MaxRecord: math.MaxInt64}
	if _, v := anyLength.Check(header[:n]); n == 0 || n == len(header) && v != tfrecord.FrameBroken {
		return true, st.Size(), nil
	}
	o.BufferSize = 16 << 10 // enough for the first record
	r := tfrecord.NewReader(io.NewSectionReader(f, 0, 1<<62), o)
	defer r.Close()
	_, err = r.Next()
	if located := new(tfrecord.Error); errors.As(err, &located) && !InData(err) {
		return false, 0, err
	}
	return r.Compression() == tfrecord.CompressionNone, st.Size(), nil
}
