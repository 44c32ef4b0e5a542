package setdir

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

	"github.com/tfrec/tfrec/internal/claim"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/storage"
)

// storeFolder is a directory of an object store. It has no renames and no locks:
// nothing has an object's name until it is whole, and claims stand for locks. What
// is written for good is published only where nothing is, so that of two who write
// the same shard, in spite of all claims, one is told.
type storeDirectory struct {
	url     string
	ctx     context.Context
	claim   *claim.Claim // nil: only looked at
	turns   *turns
	scratch *scratch
}

// turns are the claims of those who are in alone.
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

// check returns an error when one of them is lost.
func (t *turns) check() error {
	t.mu.Lock()
	taken := slices.Clone(t.taken)
	t.mu.Unlock()
	for _, c := range taken {
		if err := c.Check(); err != nil && !errors.Is(err, context.Canceled) { // given back meanwhile
			return err
		}
	}
	return nil
}

// ClaimsDir holds the claims of processes on the directory.
const ClaimsDir = StateDir + "/claims"

// storeRequests is how many small requests are made at a time.
const storeRequests = 16

// openStore claims a directory.
func openStore(ctx context.Context, url string, o Options) (*storeDirectory, error) {
	f := &storeDirectory{url: url, ctx: ctx, turns: new(turns), scratch: new(scratch)}
	store, name, err := f.at(ClaimsDir)
	if err != nil {
		return nil, fmt.Errorf("open the output directory %s: %w", url, err)
	}
	note := o.Note
	if note != nil {
		note = func(sentence string) { o.Note(url + ": " + sentence) }
	}
	f.claim, err = claim.Take(ctx, store, name, claim.Options{Shared: o.Join, Note: note})
	if errors.Is(err, claim.ErrHeld) {
		return nil, fmt.Errorf("%s: %w (%v)", url, ErrBusy, err)
	}
	if err != nil {
		return nil, fmt.Errorf("claim the output directory %s: %w", url, err)
	}
	f.ctx = f.claim.Context()
	return f, nil
}

// at returns the store, and the name in it of a file in the directory.
func (f *storeDirectory) at(name string) (storage.Store, string, error) {
	return storage.At(f.ctx, storage.Join(f.url, name))
}

// failed names the file, and says what ended the request, if that was not its own
// doing.
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
	return &fs.PathError{Op: operation, Path: storage.Join(f.url, name), Err: err}
}

// mayWrite returns an error when the directory is not this process's any more.
func (f *storeDirectory) mayWrite() error {
	if f.claim == nil {
		return errors.New("the directory was opened read-only")
	}
	if err := f.claim.Check(); err != nil {
		return err
	}
	return f.turns.check()
}

func (f *storeDirectory) mkdir(string) error { return nil }

func (f *storeDirectory) remote() bool { return true }

func (f *storeDirectory) sub(name string) directory {
	below := *f
	below.url = storage.Join(f.url, name)
	return &below
}

func (f *storeDirectory) close() error {
	err := f.scratch.close()
	if f.claim != nil {
		f.claim.Release()
	}
	return err
}

func (f *storeDirectory) put(name string, data []byte) error {
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
	err := inject.Fault("remove", storage.Join(f.url, name))
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

func (f *storeDirectory) remove(names ...string) error {
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

func (f *storeDirectory) syncNames() error { return nil } // what is there lasts

// stat returns what the store says of a file; nil when there is none.
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

func (f *storeDirectory) exists(name string) (bool, error) {
	is, err := f.stat(name)
	return is != nil, err
}

// look finds out which of the names are there, by a look at each or, if there are
// many, by lists of the directories that they lie in.
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
		wanted := make(map[string]string, len(names)) // by base
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

// each lists the objects in a directory, without those in directories below it.
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

func (f *storeDirectory) existing(names []string) ([]string, error) {
	there := map[string]bool{}
	if err := f.look(names, func(name string, _ storage.Object) { there[name] = true }); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !there[name] }), nil
}

func (f *storeDirectory) list(dir string) ([]string, error) {
	var names []string
	err := f.each(dir, func(base string, _ storage.Object) { names = append(names, base) })
	return names, err
}

// stampOf has no fractions of seconds: stores tell them at one time and not at another.
func stampOf(is storage.Object) Stamp {
	return Stamp{Bytes: is.Size, ModTime: is.ModTime.Unix() * 1e9, Version: is.Version}
}

func (f *storeDirectory) stamp(name string) (Stamp, error) {
	is, err := f.stat(name)
	if err == nil && is == nil {
		err = f.failed("stat", name, fs.ErrNotExist)
	}
	if err != nil {
		return Stamp{}, err
	}
	return stampOf(*is), nil
}

func (f *storeDirectory) stamps(names []string) (map[string]Stamp, error) {
	found := make(map[string]Stamp, len(names))
	err := f.look(names, func(name string, is storage.Object) { found[name] = stampOf(is) })
	return found, err
}

func (f *storeDirectory) atOnce() int { return storeRequests }

func (f *storeDirectory) temp(prefix string) (*os.File, error) { return f.scratch.create(prefix) }

func (f *storeDirectory) alone(ctx context.Context, thing string, unless func() (bool, error), work func() error) error {
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
