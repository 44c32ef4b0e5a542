package filetree

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/claim"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// undoPatience limits how long the files of an interrupted export are being removed from a store.
const undoPatience = 30 * time.Second

// exporting is the content of setdir.ExportFile.
type exporting struct {
	// ID identifies the run that wrote last.
	ID string `json:"id"`
}

// exportToStore writes files below a name in a store, while this process has claimed it and
// setdir.ExportFile marks it as incomplete. Files of a killed export are compared, and the others
// are written. A run that fails removes the files that it wrote, but not setdir.ExportFile: an
// abandoned request may still be carried out.
func exportToStore(ctx context.Context, at storage.Location, write Write, o *spec.Options, report *spec.Report) error {
	there, unfinished, err := listTree(ctx, at)
	if err != nil {
		return err
	}
	if len(there) > 0 && !unfinished {
		o.Notef("%s exists: comparing it with what would be written", at.Path())
		report.Status = spec.UpToDate
		t, err := newStoreTree(ctx, at, there)
		if err != nil {
			return err
		}
		t.complete = true
		return t.run(ctx, write, report)
	}
	dir, err := setdir.Open(ctx, at.Path(), setdir.Options{Note: o.Note})
	if err != nil {
		return err
	}
	defer func() { dir.Close() }()
	if err := dir.Sweep(); err != nil {
		return err
	}
	// Another export may have been here before this one had its claim.
	if there, unfinished, err = listTree(dir.Context(), at); err != nil {
		return err
	}
	if len(there) > 0 && !unfinished {
		return output.Differs(at.Path(), "")
	}
	if len(there) > 0 {
		o.Notef("%s holds an unfinished export: completing it", at.Path())
	}
	me := exporting{ID: rand.Text()}
	if err := dir.State().PutFile(setdir.ExportFile, me); err != nil {
		return err
	}
	t, err := newStoreTree(dir.Context(), at, there)
	if err != nil {
		return err
	}
	err = t.run(ctx, write, report)
	if err == nil {
		err = dir.Remove(setdir.ExportFile)
	}
	if err == nil {
		return nil
	}
	if errors.Is(context.Cause(dir.Context()), claim.ErrLost) {
		return errors.Join(err, context.Cause(dir.Context()))
	}
	if ctx.Err() == nil {
		return errors.Join(err, dir.Remove(t.madeFiles()...), dir.Sweep())
	}
	dir.Close()
	return errors.Join(err, undo(ctx, at, me, t.madeFiles()))
}

// undo removes the files of a run whose context is done.
func undo(ctx context.Context, at storage.Location, me exporting, made []string) error {
	ctx, cancel := storage.Cleanup(ctx, undoPatience)
	defer cancel()
	dir, err := setdir.Open(ctx, at.Path(), setdir.Options{})
	if err != nil {
		return err
	}
	var last exporting
	is, err := dir.State().ReadFile(setdir.ExportFile, &last)
	if err == nil && is && last == me { // otherwise another run has taken over
		err = errors.Join(dir.Remove(made...), dir.Sweep())
	}
	return errors.Join(err, dir.Close())
}

// listTree returns the files below a name, without the state of runs, and whether an export was
// writing them.
func listTree(ctx context.Context, at storage.Location) (files map[string]storage.Object, unfinished bool, err error) {
	files = map[string]storage.Object{}
	for is, err := range at.Walk(ctx) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return files, false, nil
		case err != nil:
			return nil, false, err
		case is.Name == setdir.ExportFile:
			unfinished = true
		case !isState(is.Name) && !strings.HasSuffix(is.Name, "/"): // consoles make such for directories
			files[is.Name] = is
		}
	}
	return files, unfinished, nil
}

func isState(name string) bool { return strings.HasPrefix(name, place.StateDir+"/") }

// storeTree is a tree below a name in a store.
type storeTree struct {
	ctx   context.Context // of all requests; done when one has failed
	at    storage.Location
	store storage.Store
	name  string // of the directory in the store
	work  *errgroup.Group

	there    map[string]storage.Object // files that are compared
	complete bool                      // all files are
	seen     int                       // of them
	made     fileSet
}

// atOnce is the number of small files to write or compare at a time, and maxHeld the maximum size
// of one in bytes: larger ones are processed one at a time.
const (
	atOnce  = 16
	maxHeld = 4 << 20
)

func newStoreTree(ctx context.Context, at storage.Location, there map[string]storage.Object) (*storeTree, error) {
	store, name, err := at.Store(ctx)
	if err != nil {
		return nil, err
	}
	t := &storeTree{at: at, store: store, name: name, there: there}
	t.work, t.ctx = errgroup.WithContext(ctx)
	t.work.SetLimit(atOnce)
	return t, nil
}

// run has all files written.
func (t *storeTree) run(ctx context.Context, write Write, report *spec.Report) error {
	err := write(ctx, Files{Tree: t, Report: report})
	if failed := t.work.Wait(); failed != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = failed // it has cancelled the others
	}
	if errors.Is(err, compare.ErrDiffers) {
		err = output.Differs(t.at.Path(), "")
	}
	return err
}

func (t *storeTree) mkdir(string) error { return nil } // a store has none

func (t *storeTree) Scratch() string { return "" }

// object returns the file of that name which is there, if any. It is an error if there must be one,
// or if there can be none.
func (t *storeTree) object(name string) (*storage.Object, error) {
	if !fs.ValidPath(name) || isState(name) {
		return nil, fmt.Errorf("%v: %q cannot be the name of a file below it", t.at, name)
	}
	if err := context.Cause(t.ctx); err != nil {
		return nil, err
	}
	is, ok := t.there[name]
	switch {
	case ok:
		t.seen++
		return &is, nil
	case t.complete:
		return nil, compare.ErrDiffers
	}
	return nil, nil
}

func (t *storeTree) put(name string, data []byte) error {
	is, err := t.object(name)
	if err == nil && is != nil && is.Size != int64(len(data)) {
		err = compare.ErrDiffers
	}
	if err != nil {
		return err
	}
	work := func() error { return t.putNow(name, data, is) }
	if len(data) > maxHeld {
		return work()
	}
	data = slices.Clone(data)
	t.work.Go(work)
	return nil
}

func (t *storeTree) putNow(name string, data []byte, is *storage.Object) error {
	var f File
	var err error
	if is != nil {
		f, err = t.comparedFile(name, *is)
	} else {
		f, err = t.upload(name)
	}
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Commit()
	}
	return errors.Join(err, f.Close())
}

func (t *storeTree) create(name string) (File, error) {
	is, err := t.object(name)
	if err != nil {
		return nil, err
	}
	if is != nil {
		return t.comparedFile(name, *is)
	}
	return t.upload(name)
}

func (t *storeTree) comparedFile(name string, is storage.Object) (File, error) {
	f, err := t.at.Join(name).OpenListed(t.ctx, is)
	if err != nil {
		return nil, err
	}
	same := compare.NewWriter(f)
	same.Strict = true
	return &comparedFile{same, f}, nil
}

func (t *storeTree) upload(name string) (File, error) {
	f, err := NewStoreFile(t.ctx, t.at.Join(name))
	if err != nil {
		return nil, err
	}
	f.made, f.name = &t.made, name
	return f, nil
}

func (t *storeTree) finish(int64, int64) error {
	if err := t.work.Wait(); err != nil {
		return err
	}
	if t.seen != len(t.there) {
		return compare.ErrDiffers
	}
	return nil
}

// madeFiles returns the files that were written, or may have been.
func (t *storeTree) madeFiles() []string { return t.made.names() }
