package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Reread calls read, which reads a file from its beginning. If it finds damage, and the file is an
// object in a store, it is called again, with a context that has the object read around all caches:
// the bytes may have changed in transit. The same error again is the object's own, and is returned;
// while others come, read is called up to 4 times, and then the error says so.
//
// Damage is every error but those of the system, of requests and of the context. What read did
// before an error must not matter.
func Reread(ctx context.Context, path string, read func(context.Context) error) error {
	err := read(ctx)
	if err == nil || !Remote(path) || AroundCaches(ctx) {
		return err
	}
	return reread(ctx, Parse(path), err, func() error { return read(Around(ctx)) })
}

// reread is Reread after it failed once.
func reread(ctx context.Context, at Location, failed error, read func() error) error {
	for range MostRefetches {
		if !isDamage(ctx, failed) {
			return failed
		}
		err := read()
		if err == nil {
			CountHarm(at.String(), 0, 0)
			return nil
		}
		if err.Error() == failed.Error() {
			return failed
		}
		failed = err
	}
	if !isDamage(ctx, failed) {
		return failed
	}
	return &fs.PathError{Op: "read", Path: at.String(), Err: fmt.Errorf("%w: %w", errUnstable, failed)}
}

// isDamage reports whether an error may be one of bytes that changed in transit.
func isDamage(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, ErrChanged) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var whole *wholeError
	var system *fs.PathError
	return errors.As(err, &whole) || !errors.As(err, &system)
}

// Reread is the function Reread for a file that was read with Read from its beginning, which
// failed: read is called when the next Read begins there again. Only an object, or what wraps one
// and has a method Reread, can be read again: for all others Reread returns failed.
func (o *object) Reread(failed error, read func() error) error {
	return reread(o.ctx, o.at, failed, func() error {
		o.rewind()
		return read()
	})
}

// rewind has the next Read begin at the beginning, and the object read around caches from then on.
func (o *object) rewind() {
	o.ahead.drop() // and nothing that is on its way gets into a cache after this
	o.fresh.Store(true)
	o.offset = 0
}

// rereader is a file that can be read again; see object.Reread.
type rereader interface {
	Reread(failed error, read func() error) error
}

// RereadFile is the method Reread of a file that has one; for others it returns failed.
func RereadFile(in any, failed error, read func() error) error {
	if r, ok := in.(rereader); ok {
		return r.Reread(failed, read)
	}
	return failed
}
