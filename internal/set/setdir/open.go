package setdir

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Options configures Open. The zero value is a sensible default.
type Options struct {
	// Join shares the directory with other joined processes that write shards of the same set, such
	// as the tasks of an array job, and excludes processes that want it for themselves. A process
	// that joined must not sweep.
	Join bool
	// Note, if not nil, is called with a human-readable message, such as that Open is waiting for a
	// directory.
	Note func(sentence string)
}

// Open creates the directory at path, with its parents, and locks it for this process until Close.
// Path may be the URL of a directory in an object store; reads and writes there are cancelled when
// ctx is done. If another process holds the directory, the error unwraps to ErrBusy.
//
// If another process was interrupted while it changed the set, Open first completes the change.
func Open(ctx context.Context, path string, o Options) (*Dir, error) {
	return open(ctx, storage.Parse(path), o)
}

func open(ctx context.Context, loc storage.Location, o Options) (*Dir, error) {
	if o.Join && !loc.Remote() {
		return joinDir(ctx, loc, o)
	}
	d, err := openAsIs(ctx, loc, o)
	if err != nil {
		return nil, err
	}
	j, err := ReadJournal(d)
	if err == nil && j != nil && o.Join { // in a store; others may complete it at the same time
		err = fmt.Errorf("%s: an append was interrupted: %s %[1]s completes it", d.Path(), optname.ReshapeAppend)
	}
	if err == nil && j != nil {
		if err = j.Complete(d); err == nil && o.Note != nil {
			o.Note(fmt.Sprintf("completed an interrupted change of %s", d.Path()))
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// joinDir is Open with Options.Join for a local directory. Completing an interrupted change needs
// an exclusive lock first.
func joinDir(ctx context.Context, loc storage.Location, o Options) (*Dir, error) {
	const patience = 10 * time.Second // also for other joined processes that complete it
	for deadline := time.Now().Add(patience); ; {
		d, err := openAsIs(ctx, loc, o)
		if err != nil {
			return nil, err
		}
		begun, err := d.Exists(JournalFile)
		if err == nil && !begun {
			return d, nil
		}
		if err := errors.Join(err, d.Close()); err != nil {
			return nil, err
		}
		alone, err := open(ctx, loc, Options{Note: o.Note})
		if err == nil {
			err = alone.Close()
		}
		if err != nil && (!errors.Is(err, place.ErrBusy) || time.Now().After(deadline)) {
			return nil, err
		}
		if err := par.Sleep(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// OpenAsIs is Open without completing an interrupted change.
func OpenAsIs(ctx context.Context, path string, o Options) (*Dir, error) {
	return openAsIs(ctx, storage.Parse(path), o)
}

func openAsIs(ctx context.Context, loc storage.Location, o Options) (*Dir, error) {
	at, err := place.Open(ctx, loc, place.Options(o))
	if err != nil {
		return nil, err
	}
	return &Dir{loc: loc, ctx: at.Context(), at: at}, nil
}

// OpenWhenFree is like Open, but retries for up to patience while another process holds the
// directory.
func OpenWhenFree(ctx context.Context, path string, o Options, patience time.Duration) (*Dir, error) {
	loc := storage.Parse(path)
	for deadline := time.Now().Add(patience); ; {
		d, err := open(ctx, loc, o)
		if !errors.Is(err, place.ErrBusy) || time.Now().After(deadline) {
			return d, err
		}
		if err := par.Sleep(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
