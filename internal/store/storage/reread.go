package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Reread calls read, which reads a file from its beginning. If read reports damage and the file is
// an object in a store, Reread calls it again with a context that bypasses all caches, in case the
// bytes changed in transit. If the same error recurs, the object itself is damaged, and Reread
// returns the error. While the errors differ, Reread calls read up to 4 more times and then returns
// an error that reports this.
//
// All errors count as damage except errors of the system, of requests and of the context. Side
// effects of a failed read must not matter.
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
