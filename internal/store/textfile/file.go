package textfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// ErrShort means that a file ends before the end of a range to read.
var ErrShort = errors.New("the file is shorter than it was")

// File is a file of text. It keeps nothing open between calls but the file that ReadRange reads in
// order, so that there may be any number of Files. Objects in a store are read in the version that
// was opened. Its methods are safe for concurrent use, but see ReadRange.
type File struct {
	at          storage.Location
	size        int64
	modTime     time.Time
	object      storage.Object // what it is in an object store; without a version on a disk
	compression Compression
	decoder     *Decoder
	head        []byte

	mu     sync.Mutex   // guards the fields below
	plain  storage.File // of an object that is not compressed; nil before it is needed
	stream *Stream      // of a compressed file; nil before it is needed
	offset int64        // of stream
	last   []byte       // what was read last from stream
}

// headSize is the number of bytes from a file's start that Head returns.
const headSize = 16

// Open opens the file at path: a plain file, or one compressed with gzip or zstd, which is detected
// by its first bytes and not by its name. Errors name the file.
func Open(ctx context.Context, path string) (*File, error) { return OpenEncoded(ctx, path, nil) }

// OpenEncoded opens the file at path as Open does, and reads its content through a decoder, if it is not
// nil.
func OpenEncoded(ctx context.Context, path string, d *Decoder) (*File, error) {
	at := storage.Parse(path)
	in, err := at.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &File{at: at, size: info.Size(), modTime: info.ModTime(), decoder: d, head: make([]byte, headSize)}
	f.object, _ = info.Sys().(storage.Object)
	n, err := in.ReadAt(f.head, 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.head = f.head[:n]
	f.compression = compressionOf(f.head)
	return f, nil
}

// Name is the path that the file was opened by.
func (f *File) Name() string { return f.at.Path() }

// Size is the size of the file in bytes, as it is stored.
func (f *File) Size() int64 { return f.size }

// ModTime is when the file was last changed before it was opened.
func (f *File) ModTime() time.Time { return f.modTime }

// Version identifies the contents of an object in a store, together with its URL; empty for a file.
func (f *File) Version() string { return f.object.Version }

// Head is the first bytes of the file as it is stored: at most 16.
func (f *File) Head() []byte { return f.head }

// Compression returns the compression of the file.
func (f *File) Compression() Compression { return f.compression }

// streams reports whether the content is that of a stream, not the bytes of the file.
func (f *File) streams() bool {
	return f.compression != None || f.decoder.decodes(f.head)
}

// InOrder reports whether ReadRange should be called by one goroutine, for one range after another: a
// compressed or encoded file then continues in its stream, and an object in a store is requested ahead.
func (f *File) InOrder() bool { return f.streams() || f.object.Version != "" }

// Close gives back what ReadRange keeps of a file. The File can be used on; it then begins again at
// the start.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closeStream()
	if f.plain == nil {
		return nil
	}
	err := f.plain.Close()
	f.plain = nil
	return err
}

func (f *File) closeStream() {
	if f.stream != nil {
		f.stream.Close()
		f.stream, f.last = nil, nil
	}
}

// reopen opens the file again.
func (f *File) reopen(ctx context.Context) (storage.File, error) {
	if f.object.Version != "" {
		return f.at.OpenListed(ctx, f.object)
	}
	return f.at.Open(ctx)
}

// Stream reads the uncompressed content, as UTF-8, from its start, until ctx is done. The caller must Close
// the Stream.
func (f *File) Stream(ctx context.Context) (*Stream, error) {
	in, err := f.reopen(ctx)
	if err != nil {
		return nil, err
	}
	return f.newStream(in)
}

// newStream reads the uncompressed content of in, which the stream closes.
func (f *File) newStream(in storage.File) (*Stream, error) {
	s, err := newStream(storage.Whole(in), f.compression)
	if err == nil && f.streams() {
		s.Reader, err = f.decoder.decode(s.Reader)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	s.file = in
	return s, nil
}

// ReadRange fills buf with the uncompressed content, as UTF-8, from offset on; if there is too little of it
// the error is ErrShort. A plain file can be read by many goroutines at once and in any order; a
// compressed one is read by one at a time, and from its start again for a range before the last one
// read.
func (f *File) ReadRange(ctx context.Context, buf []byte, offset int64) error {
	var err error
	switch {
	case f.streams():
		err = f.readStream(ctx, buf, offset)
	case f.InOrder() && !storage.AroundCaches(ctx):
		err = f.readObject(ctx, buf, offset)
	default:
		err = f.readFile(ctx, buf, offset)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return ErrShort
	}
	return err
}

// readFile reads from a plain file.
func (f *File) readFile(ctx context.Context, buf []byte, offset int64) error {
	in, err := f.reopen(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = in.ReadAt(buf, offset)
	return err
}

// readObject reads from a plain object, which stays open, so that the bytes after the range are
// requested ahead.
func (f *File) readObject(ctx context.Context, buf []byte, offset int64) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.plain == nil {
		// It stays open for calls with other contexts; readsUntil ends the reads of this one.
		if f.plain, err = f.reopen(context.WithoutCancel(ctx)); err != nil {
			f.plain = nil
			return err
		}
	}
	defer readsUntil(ctx, f.plain, &err, func() {
		f.plain.Close()
		f.plain = nil
	})()
	if _, err := f.plain.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	_, err = io.ReadFull(f.plain, buf)
	return err
}

// readsUntil ends reads of in when ctx is done. The caller must call the returned function after
// the reads: if ctx was done by then, later calls cannot use in, so it calls drop and sets the
// error to the cause of ctx.
func readsUntil(ctx context.Context, in storage.File, err *error, drop func()) (after func()) {
	stop := context.AfterFunc(ctx, func() { in.SetReadDeadline(time.Unix(1, 0)) })
	return func() {
		if stop() {
			return
		}
		drop()
		*err = context.Cause(ctx)
	}
}

// startStream begins to read a compressed file.
func (f *File) startStream(ctx context.Context) (err error) {
	in, err := f.reopen(context.WithoutCancel(ctx)) // it stays open, as in readObject
	if err != nil {
		return err
	}
	defer readsUntil(ctx, in, &err, f.closeStream)()
	s, err := f.newStream(in)
	if err != nil {
		return err
	}
	f.stream, f.offset = s, 0
	return nil
}

// readStream reads from a compressed file.
func (f *File) readStream(ctx context.Context, buf []byte, offset int64) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if storage.AroundCaches(ctx) {
		f.closeStream() // what was read may be wrong
	}
	if f.stream != nil && offset == f.offset-int64(len(f.last)) && len(buf) == len(f.last) {
		copy(buf, f.last)
		return nil
	}
	f.last = f.last[:0]
	if f.offset > offset {
		f.closeStream()
	}
	if f.stream == nil {
		if err := f.startStream(ctx); err != nil {
			return err
		}
	}
	defer readsUntil(ctx, f.stream.file, &err, f.closeStream)()
	n, err := io.CopyN(io.Discard, f.stream, offset-f.offset)
	f.offset += n
	if err != nil {
		return err
	}
	got, err := io.ReadFull(f.stream, buf)
	f.offset += int64(got)
	f.last = append(f.last, buf[:got]...)
	return err
}
