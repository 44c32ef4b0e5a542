package place

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/store/claim"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// storeDirectory is a directory of an object store, without renames and locks: an object appears
// under its name when it is complete, and claims replace locks. Shards are published only where no
// object exists, so that if two processes write the same shard despite all claims, one of them gets
// an error.
type storeDirectory struct {
	loc     storage.Location
	ctx     context.Context
	claim   *claim.Claim // nil for a view
	turns   *turns
	scratch *scratch
}

// turns holds the claims of the calls that are in alone.
type turns struct {
	mu    sync.Mutex
	taken []*claim.Claim
}

func (t *turns) take(c *claim.Claim) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = append(t.taken, c)
}

func (t *turns) give(c *claim.Claim) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = slices.DeleteFunc(t.taken, func(taken *claim.Claim) bool { return taken == c })
}

// check returns an error if one of the claims is lost.
func (t *turns) check() error {
	t.mu.Lock()
	taken := slices.Clone(t.taken)
	t.mu.Unlock()
	for _, c := range taken {
		if err := c.Check(); err != nil && !errors.Is(err, context.Canceled) { // released meanwhile
			return err
		}
	}
	return nil
}

// ClaimsDir has the claims of processes on the directory.
const ClaimsDir = StateDir + "/claims"

// storeReads is the number of small files to read concurrently, each of which takes 256 KiB of
// memory meanwhile: a store may allow fewer. storeRequests is the number of other small requests.
const (
	storeReads    = 64
	storeRequests = 16
)

// openStore claims a directory.
func openStore(ctx context.Context, loc storage.Location, o Options) (*storeDirectory, error) {
	f := &storeDirectory{loc: loc, ctx: ctx, turns: new(turns), scratch: new(scratch)}
	store, name, err := f.at(ClaimsDir)
	if err != nil {
		return nil, fmt.Errorf("open the output directory %v: %w", loc, err)
	}
	note := o.Note
	if note != nil {
		note = func(sentence string) { o.Note(loc.String() + ": " + sentence) }
	}
	f.claim, err = claim.Take(ctx, store, name, claim.Options{Shared: o.Join, Note: note})
	if errors.Is(err, claim.ErrHeld) {
		return nil, fmt.Errorf("%v: %w (%v)", loc, ErrBusy, err)
	}
	if err != nil {
		return nil, fmt.Errorf("claim the output directory %v: %w", loc, err)
	}
	f.ctx = f.claim.Context()
	return f, nil
}

// at returns the store of a file in the directory, and its name there.
func (f *storeDirectory) at(name string) (storage.Store, string, error) {
	return f.loc.Join(name).Store(f.ctx)
}

// path returns the URL of a file in the directory.
func (f *storeDirectory) path(name string) string { return f.loc.Join(name).Path() }

// failed adds the file's path to err, and the cause if the directory's claim was lost.
func (f *storeDirectory) failed(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(f.ctx); errors.Is(cause, claim.ErrLost) {
		err = fmt.Errorf("%w: finished shards are kept; wait for that process to finish, then run the command again", cause)
	}
	var named *fs.PathError
	if errors.As(err, &named) {
		return err
	}
	return &fs.PathError{Op: operation, Path: f.path(name), Err: err}
}

// mayWrite returns an error if this process no longer holds the directory.
func (f *storeDirectory) mayWrite() error {
	if f.claim == nil {
		return errors.New("the directory was opened read-only")
	}
	if err := f.claim.Check(); err != nil {
		return err
	}
	return f.turns.check()
}

func (f *storeDirectory) Mkdir(string) error { return nil }

func (f *storeDirectory) Context() context.Context { return f.ctx }

func (f *storeDirectory) Remote() bool { return true }

func (f *storeDirectory) Sub(name string) Directory {
	below := *f
	below.loc = f.loc.Join(name)
	return &below
}

func (f *storeDirectory) Close() error {
	err := f.scratch.close()
	if f.claim != nil {
		f.claim.Release()
	}
	return err
}

func (f *storeDirectory) Put(name string, data []byte) error {
	err := f.mayWrite()
	if err == nil {
		var store storage.Store
		var at string
		if store, at, err = f.at(name); err == nil {
			_, err = storage.Put(f.ctx, store, at, data, storage.CreateOptions{Replace: true})
		}
	}
	return f.failed("put", name, err)
}

func (f *storeDirectory) removeOne(name string) error {
	err := inject.Fault(f.ctx, "remove", f.path(name))
	if err == nil {
		err = f.mayWrite()
	}
	if err == nil {
		var store storage.Store
		var at string
		if store, at, err = f.at(name); err == nil {
			err = store.Remove(f.ctx, at)
		}
	}
	return f.failed("remove", name, err)
}

func (f *storeDirectory) Remove(names ...string) error {
	if len(names) == 0 {
		return nil
	}
	if err := f.removeOne(names[0]); err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(storeRequests)
	for _, name := range names[1:] {
		g.Go(func() error { return f.removeOne(name) })
	}
	return g.Wait()
}

func (f *storeDirectory) SyncNames() error { return nil } // objects are durable once visible

// stat returns the store's metadata of a file; nil if it does not exist.
func (f *storeDirectory) stat(name string) (*storage.Object, error) {
	store, at, err := f.at(name)
	if err != nil {
		return nil, f.failed("stat", name, err)
	}
	is, err := storage.Look(f.ctx, store, at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.failed("stat", name, err)
	}
	return &is, nil
}

func (f *storeDirectory) Exists(name string) (bool, error) {
	is, err := f.stat(name)
	return is != nil, err
}

// look calls found for each name that exists. It requests names one by one or, if there are many in
// a directory, lists the directory.
func (f *storeDirectory) look(names []string, found func(name string, is storage.Object)) error {
	const few = 3
	directories := map[string][]string{}
	for _, name := range names {
		directories[path.Dir(name)] = append(directories[path.Dir(name)], name)
	}
	for dir, names := range directories {
		if len(names) <= few {
			for _, name := range names {
				is, err := f.stat(name)
				if err != nil {
					return err
				}
				if is != nil {
					found(name, *is)
				}
			}
			continue
		}
		wanted := make(map[string]string, len(names)) // by base name
		for _, name := range names {
			wanted[path.Base(name)] = name
		}
		err := f.each(dir, func(base string, is storage.Object) {
			if name, ok := wanted[base]; ok {
				found(name, is)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// each lists the objects in a directory, not recursively.
func (f *storeDirectory) each(dir string, yield func(base string, is storage.Object)) error {
	store, at, err := f.at(dir)
	if err != nil {
		return f.failed("list", dir, err)
	}
	prefix := prefixOf(at)
	for is, err := range store.List(f.ctx, prefix, false) {
		if err != nil {
			return f.failed("list", dir, err)
		}
		if base := strings.TrimPrefix(is.Name, prefix); base != "" && !strings.HasSuffix(base, "/") {
			yield(base, is)
		}
	}
	return nil
}

func (f *storeDirectory) Existing(names []string) ([]string, error) {
	there := map[string]bool{}
	if err := f.look(names, func(name string, _ storage.Object) { there[name] = true }); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !there[name] }), nil
}

func (f *storeDirectory) List(dir string) ([]string, error) {
	var names []string
	err := f.each(dir, func(base string, _ storage.Object) { names = append(names, base) })
	return names, err
}

// stampOf drops fractions of seconds: stores do not report them consistently.
func stampOf(is storage.Object) Stamp {
	return Stamp{Bytes: is.Size, ModTime: is.ModTime.Unix() * 1e9, Version: is.Version}
}

func (f *storeDirectory) Stamp(name string) (Stamp, error) {
	is, err := f.stat(name)
	if err == nil && is == nil {
		err = f.failed("stat", name, fs.ErrNotExist)
	}
	if err != nil {
		return Stamp{}, err
	}
	return stampOf(*is), nil
}

func (f *storeDirectory) Stamps(names []string) (map[string]Stamp, error) {
	found := make(map[string]Stamp, len(names))
	err := f.look(names, func(name string, is storage.Object) { found[name] = stampOf(is) })
	return found, err
}

func (f *storeDirectory) AtOnce() int { return storeReads }

func (f *storeDirectory) Temp(prefix string) (*os.File, error) { return f.scratch.create(prefix) }

func (f *storeDirectory) Alone(ctx context.Context, thing string, unless func() (bool, error), work func() error) error {
	store, name, err := f.at(TogetherDir + "/" + thing)
	if err != nil {
		return f.failed("claim", thing, err)
	}
	held, err := claim.Take(ctx, store, name, claim.Options{Wait: true, Until: unless})
	if errors.Is(err, claim.ErrNotNeeded) {
		return nil
	}
	if err != nil {
		return f.failed("claim", TogetherDir+"/"+thing, err)
	}
	defer held.Release()
	f.turns.take(held)
	defer f.turns.give(held)
	return work()
}
