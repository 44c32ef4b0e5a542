package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path"
	"strings"
	"sync"
	"time"
)

// Store holds objects by name. It is the subset of a bucket's features that all object stores have
// in common. Its methods may be called by several goroutines at the same time. Errors unwrap to
// fs.ErrNotExist for objects that do not exist and to fs.ErrPermission where access is denied, and
// contain no credentials.
type Store interface {
	// List yields the objects whose names begin with prefix, in the order of their names, a page in
	// memory at a time. Unless deep is set, everything after the first slash after the prefix is
	// yielded as one Object, with a name that ends in the slash.
	List(ctx context.Context, prefix string, deep bool) iter.Seq2[Object, error]
	// Stat returns the properties of an object.
	Stat(ctx context.Context, name string) (Object, error)
	// Open opens length bytes of an object from offset on, or fewer at its end, and describes the
	// object. It returns ErrChanged if version, from List, Stat or Open, is not empty and not the
	// object's. If offset is past the end it may return any error.
	Open(ctx context.Context, name, version string, offset, length int64) (io.ReadCloser, Object, error)
	// Create begins an object. Nothing has its name before Commit; what ctx ends is as
	// if it had been aborted.
	Create(ctx context.Context, name string, o CreateOptions) (Upload, error)
	// Remove deletes an object. One that is not there is fine. Requests that fail are
	// repeated by the implementation.
	Remove(ctx context.Context, name string) error
}

// CreateOptions are the options of Store.Create.
type CreateOptions struct {
	// Replace puts the object in the place of what has its name. Without it, Commit
	// returns an error that unwraps to fs.ErrExist when something has.
	Replace bool
}

// Upload is an object on its way into a store, in parts, of which a bounded number
// is in memory. Requests that fail are repeated by the implementation. It is for one
// goroutine.
type Upload interface {
	io.Writer
	// Commit publishes the complete object and describes it. An error that unwraps to fs.ErrExist
	// may also come from a repeated request that finds the object of an earlier one whose response
	// was lost: callers that must know compare contents. After any other error the object does not
	// exist or is complete.
	Commit() (Object, error)
	// Abort throws away what was uploaded. It does nothing after Commit.
	Abort()
}

// Unfinished is a Store that keeps what was uploaded of objects that were neither
// committed nor aborted, as when a process dies.
type Unfinished interface {
	// Unfinished yields those uploads to names that begin with prefix.
	Unfinished(ctx context.Context, prefix string) iter.Seq2[Leftover, error]
	// Discard throws one away. One that is not there any more is fine. Requests that
	// fail are repeated by the implementation.
	Discard(ctx context.Context, l Leftover) error
}

// Leftover is an upload that was never committed.
type Leftover struct {
	Name  string    // of the object that it was to be
	ID    string    // the store's own
	Begun time.Time // by the store's clock
}

// Store returns the store that a location is in, and its name in there: without a slash at either
// end, empty for the whole store.
func (l Location) Store(ctx context.Context) (s Store, name string, err error) {
	if !l.Remote() {
		return nil, "", fmt.Errorf("%s is not a URL of an object store", l.path)
	}
	s, err = l.store(ctx)
	return s, l.name, err
}

// Object describes an object in a store.
type Object struct {
	Name    string
	Size    int64
	ModTime time.Time
	// Version changes with the contents: an ETag, a generation or, if a store has neither, time and
	// size. Lists have it, too, except for directories.
	Version string
	// Sum is a checksum, if the store states one: from Open, of the requested range; from Stat, of
	// the whole object.
	Sum Sum
}

// Modified begins the versions of objects of which nothing better is known than
// when they were written, and their size.
const Modified = "modified "

// ErrChanged means that an object has changed since it was listed or opened.
var ErrChanged = errors.New("the object was replaced or removed after it was listed or opened: do not change the input while it is read, and start again")

// ErrGone means that the store has no parts of an object any more.
var ErrGone = errors.New("the unfinished upload of the object is gone: another process discarded it, or made an object of this name in the meantime")

// Opener opens the store that a URL's host names: a bucket or a container.
type Opener func(ctx context.Context, host string) (Store, error)

var (
	registry sync.Mutex
	openers  = make(map[string]Opener)
	opened   = make(map[string]Store) // by scheme and host
)

// Register has URLs of a scheme opened by open, once for each host, or by none if open is nil. Stores
// that the scheme's opener before opened are forgotten. It is for init functions of packages that
// bring object stores.
func Register(scheme string, open Opener) {
	registry.Lock()
	defer registry.Unlock()
	maps.DeleteFunc(opened, func(url string, _ Store) bool { return strings.HasPrefix(url, scheme+"://") })
	if open == nil {
		delete(openers, scheme)
		return
	}
	openers[scheme] = open
}

// HasStores reports whether URLs of any object store can be opened.
func HasStores() bool {
	registry.Lock()
	defer registry.Unlock()
	return len(openers) > 0
}

// Forget has stores opened again, with the environment and the credentials that
// there are then.
func Forget() {
	registry.Lock()
	defer registry.Unlock()
	clear(opened)
}

// store returns the store that l is in.
func (l Location) store(ctx context.Context) (Store, error) {
	registry.Lock()
	defer registry.Unlock()
	if s := opened[l.scheme+"://"+l.host]; s != nil {
		return s, nil
	}
	open := openers[l.scheme]
	if open == nil {
		return nil, fmt.Errorf("this tfrec was built without object storage: take the one that `make build-cloud` makes, or in a Go program import github.com/tfrec/tfrec/cloud")
	}
	if l.host == "" {
		return nil, fmt.Errorf("the URL names no bucket: want %s://BUCKET/NAME", l.scheme)
	}
	if strings.Contains(l.host, "@") {
		return nil, fmt.Errorf("URLs must not contain credentials, since URLs are printed and stored: give credentials as the cloud's own tools expect them")
	}
	if err := readEnvironment(); err != nil {
		return nil, err
	}
	s, err := open(ctx, l.host)
	if err != nil {
		return nil, err
	}
	opened[l.scheme+"://"+l.host] = s
	return s, nil
}

// info is an Object as an fs.FileInfo.
type info struct {
	object    Object
	directory bool
}

func (i info) Name() string       { return path.Base(i.object.Name) }
func (i info) Size() int64        { return i.object.Size }
func (i info) ModTime() time.Time { return i.object.ModTime }
func (i info) IsDir() bool        { return i.directory }
func (i info) Sys() any           { return i.object }

func (i info) Mode() fs.FileMode {
	if i.directory {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// infoOf makes an entry of a list.
func infoOf(o Object) info {
	name, directory := strings.CutSuffix(o.Name, "/")
	o.Name = name
	return info{o, directory}
}
