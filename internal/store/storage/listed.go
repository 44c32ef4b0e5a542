package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// OpenListed opens an object in the version of a list or Stat. No request is made before
// something is read that is not cached; if the object has another version then, that is an error
// that unwraps to ErrChanged.
func (l Location) OpenListed(ctx context.Context, is Object) (File, error) {
	o, err := l.listed(ctx, is)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: l.String(), Err: err}
	}
	return o, nil
}

// ReadListed reads, with a single request where nothing breaks, all of an object in the version
// from a list; see OpenListed. The bytes are in the capacity of buf when that is enough.
func (l Location) ReadListed(ctx context.Context, is Object, buf []byte) ([]byte, error) {
	o, err := l.listed(ctx, is)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: l.String(), Err: err}
	}
	defer o.Close()
	if is.Size == 0 { // an empty range cannot be requested
		now, err := Look(o.ctx, o.store, o.at.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = fmt.Errorf("%w: %w", ErrChanged, err)
		case err == nil && now.Version != is.Version:
			err = ErrChanged
		}
		if err != nil {
			return nil, o.failed(err)
		}
		return buf[:0], nil
	}
	buf = slices.Grow(buf[:0], int(is.Size))[:is.Size]
	if err := o.fetch(buf, 0); err != nil {
		return nil, err
	}
	return buf, nil
}

func (l Location) listed(ctx context.Context, is Object) (*object, error) {
	if !l.Remote() || is.Version == "" {
		return nil, fmt.Errorf("%w: of what is opened as it was listed, URL and version must be known", fs.ErrInvalid)
	}
	s, err := l.store(ctx)
	if err != nil {
		return nil, err
	}
	is.Name = l.name
	o := &object{at: l, store: s}
	o.become(is)
	o.ctx, o.cancel = context.WithCancelCause(ctx)
	o.ahead.object, o.ahead.depth = o, 1
	return o, nil
}
