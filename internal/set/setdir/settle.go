package setdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Change is the progress of a change of a set.
type Change int

const (
	NoChange Change = iota // none in progress
	Changing               // a running process is making it
	Stuck                  // interrupted, and this process cannot complete it
)

// Settle completes an interrupted change of the set in a local directory. It writes nothing without
// a journal, or if the journal belongs to another user: reading a set must not execute another
// user's instructions.
func Settle(ctx context.Context, dir storage.Location) (Change, error) {
	if dir.Remote() {
		return NoChange, nil // a change in a store has a marker, which Expand refuses
	}
	view := ViewAt(ctx, dir)
	if begun, err := view.Exists(JournalFile); !begun || err != nil {
		return NoChange, err
	}
	own, err := ownFile(view.Join(JournalFile))
	switch {
	case storage.Missing(err):
		return NoChange, nil
	case err != nil:
		return NoChange, err
	case !own:
		return Stuck, nil // or in progress, which only its owner can tell
	}
	d, err := open(ctx, dir, Options{})
	switch {
	case err == nil:
		return NoChange, d.Close() // Open has completed it
	case errors.Is(err, place.ErrBusy):
		return Changing, nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return Stuck, nil
	}
	return NoChange, fmt.Errorf("%s is partly replaced, since the process replacing it was stopped, and completing it fails: %w", dir.Path(), err)
}

// ErrStuck means that a replacement of a set was interrupted, and that this process cannot complete
// it.
var ErrStuck = optname.Errorf("partly replaced, since the process replacing it was stopped; %s completes it when run by a user with write permission", optname.RepairClean)

// CannotOpen returns the error for a set that is being replaced and has no links to its old files.
func CannotOpen(dir string, c Change) error {
	if c == Stuck {
		return fmt.Errorf("%s: %w", dir, ErrStuck)
	}
	return fmt.Errorf("%s: %w", dir, place.ErrBusy)
}
