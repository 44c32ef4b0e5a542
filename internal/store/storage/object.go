package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/internal/par"
)

// object is an open object. When a connection breaks, a body ends early or an answer does not come,
// the rest is requested again.
type object struct {
	at    Location
	store Store
	is    Object // at the time of opening; all that is read is of this version
	// cached is the cache of its blocks; nil: none
	cached *cached

	ctx    context.Context
	cancel context.CancelCauseFunc
	offset int64       // of Read
	fresh  atomic.Bool // no cache may answer from now on
	ahead  ahead
}

func openObject(ctx context.Context, l Location) (*object, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	s, err := l.store(ctx)
	if err == nil && l.name == "" {
		err = fmt.Errorf("this is a whole bucket, not an object")
	}
	if err != nil {
		cancel(err)
		return nil, err
	}
	o := &object{at: l, store: s, ctx: ctx, cancel: cancel}
	o.ahead.object = o
	if known, err := o.recall(); known || err != nil {
		if err != nil {
			cancel(err)
			return nil, err
		}
		return o, nil
	}
	// The response to a request for the beginning also describes the object: most small objects
	// need no other request.
	its, err := takeTurn(ctx, s)
	if err != nil {
		cancel(err)
		return nil, err
	}
	first, stop := context.WithCancel(ctx)
	silence := network.Load().silence
	watch := time.AfterFunc(silence, stop)
	body, is, err := openRange(first, s, l.name, "", 0, firstPart)
	if err == nil {
		o.become(is)
		o.ahead.begin(body, is.Sum, func() { watch.Reset(silence) }, func() { watch.Stop(); stop(); its.end(nil) })
		return o, nil
	}
	its.end(err)
	watch.Stop()
	stop()
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		// It may be empty, or the server out of order for a moment.
		is, err = Look(ctx, s, l.name)
	}
	if err != nil {
		cancel(err)
		return nil, err
	}
	o.become(is)
	return o, nil
}

// Name returns the object's URL.
func (o *object) Name() string { return o.at.String() }

// Stat returns the object's properties at the time of opening.
func (o *object) Stat() (fs.FileInfo, error) { return info{object: o.is}, nil }

// Close ends all requests.
func (o *object) Close() error {
	o.cancel(fs.ErrClosed)
	o.ahead.close()
	return nil
}

// SetReadDeadline cancels current and future reads if t is in the past. Other times have no effect.
func (o *object) SetReadDeadline(t time.Time) error {
	if !t.IsZero() && !t.After(time.Now()) {
		o.cancel(context.Canceled)
	}
	return nil
}

func (o *object) Read(p []byte) (int, error) {
	if o.offset >= o.is.Size {
		return 0, io.EOF
	}
	n, err := o.ahead.read(p[:min(int64(len(p)), o.is.Size-o.offset)], o.offset, true)
	o.offset += int64(n)
	return n, err
}

// Seek sets the offset of the next Read.
func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.offset
	case io.SeekEnd:
		offset += o.is.Size
	}
	if offset < 0 {
		return 0, o.failed(errors.New("negative offset"))
	}
	o.offset = offset
	return offset, nil
}

func (o *object) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, o.failed(errors.New("negative offset"))
	}
	n := max(0, min(int64(len(p)), o.is.Size-off))
	if err := o.ahead.readAt(p[:n], off); err != nil {
		return 0, err
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

func (o *object) failed(err error) error {
	return &fs.PathError{Op: "read", Path: o.at.String(), Err: err}
}

// download fills p with the object's bytes from off on, and holds them to their checksum if the
// store states one.
func (o *object) download(p []byte, off int64) error {
	return o.checked(p, off, func() (Sum, error) { return o.transfer(p, off) })
}

// transfer is download without a look at what came. It returns the checksum of all of p.
func (o *object) transfer(p []byte, off int64) (sum Sum, err error) {
	all := len(p)
	for n := 1; len(p) > 0; n++ {
		if cause := context.Cause(o.ctx); cause != nil {
			return sum, o.failed(cause)
		}
		got, stated, err := o.request(p, off)
		if len(p) == all {
			sum = stated // the checksum of a later request covers only the rest
		}
		if got > 0 {
			p, off = p[got:], off+int64(got)
			if slow := (*slowError)(nil); !errors.As(err, &slow) { // what crawls would never end
				n = 1
			}
		}
		if len(p) == 0 {
			return sum, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", ErrChanged, err) // there was one
		}
		if lasting(err) {
			return sum, o.failed(err)
		}
		if err := o.again(off, n, err); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// again waits before what failed for the nth time in a row, at off, is tried again. It returns an
// error if that was the last time.
func (o *object) again(off int64, n int, err error) error {
	if n == tries {
		return o.failed(fmt.Errorf("at byte %d, given up after %d tries: %w", off, n, err))
	}
	if err := par.Sleep(o.ctx, pause(o.ctx, n)); err != nil {
		return o.failed(err)
	}
	return nil
}

// request makes one request for the len(p) bytes at off and returns the number of bytes read into
// p, with the checksum of p. If n < len(p), err is not nil.
func (o *object) request(p []byte, off int64) (n int, sum Sum, err error) {
	parent := o.ctx
	if o.fresh.Load() {
		parent = Around(parent)
	}
	its, err := takeTurn(parent, o.store)
	if err != nil {
		return 0, Sum{}, err
	}
	defer func() { its.end(err) }()
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	silence := network.Load().silence
	stalled := fmt.Errorf("the server sent nothing for %v", silence)
	watch := time.AfterFunc(silence, func() { cancel(stalled) })
	defer watch.Stop()
	body, is, err := openRange(ctx, o.store, o.at.name, o.is.Version, off, int64(len(p)))
	switch {
	case err == nil && (is.Version != o.is.Version || is.Size != o.is.Size):
		body.Close() // nothing of it is wanted
		return 0, Sum{}, ErrChanged
	case err == nil:
		n, err = drain(body, p, func() { watch.Reset(silence) })
	}
	switch cause := context.Cause(ctx); {
	case n == len(p):
		return n, is.Sum, nil
	case cause != nil && errors.Is(cause, stalled):
		noteSilence(o.at.server(), silence)
		return n, is.Sum, stalled
	case err == io.EOF:
		return n, is.Sum, io.ErrUnexpectedEOF
	}
	return n, is.Sum, err
}
