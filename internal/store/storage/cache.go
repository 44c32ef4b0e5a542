package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/internal/size"
)

// CacheOptions are the location and size of a cache of objects.
type CacheOptions struct {
	// Dir is the directory. It is created if necessary; a non-empty one that is not a cache is
	// refused. Processes may share it.
	Dir string
	// Size bounds the total size of the files in it, each rounded up to 4 KiB. Default:
	// DefaultCacheSize. Minimum: MinCacheSize.
	Size int64
	// Note, if not nil, is called once, by any goroutine, if the directory becomes unwritable,
	// which only costs speed.
	Note func(string)
}

// Sizes of caches in bytes.
const (
	DefaultCacheSize = 10 << 30
	MinCacheSize     = 4 << 20
)

// cache keeps blocks of objects in files of a directory:
//
//	tfrec-cache   that the directory is a cache, and how much it holds; locked while that changes
//	tmp/          blocks that are being written
//	00/ ... ff/   blocks, by their hash
//
// Blocks are renamed into place, so processes see complete ones only. Damage after a crash of the
// machine is detected by checksums, so nothing is synced.
type cache struct {
	dir   string
	limit int64
	note  func(string)
	write func(f *os.File, head, data []byte) error // writeBlock, but in tests of full disks

	mu     sync.Mutex   // held with the lock on the file, which does not keep goroutines apart
	resume atomic.Int64 // nothing is written before this time, in ns since 1970
	told   sync.Once
}

// inUse is the cache for objects opened from now on, or nil.
var inUse atomic.Pointer[cache]

// UseCache caches the contents of objects that are opened from now on in a directory, until close
// is called. There may be one cache at a time. In builds without object stores UseCache only checks
// the options.
func UseCache(o CacheOptions) (close func(), err error) {
	if o.Size == 0 {
		o.Size = DefaultCacheSize
	}
	if o.Dir == "" {
		return nil, errors.New("a cache of objects needs a directory")
	}
	if Remote(o.Dir) {
		return nil, fmt.Errorf("%s: a cache of objects is a local directory", o.Dir)
	}
	if o.Size < MinCacheSize {
		return nil, fmt.Errorf("a cache of %s is too small: %s is the least", size.Format(o.Size), size.Format(MinCacheSize))
	}
	if !haveStores() {
		return func() {}, nil
	}
	c := &cache{dir: Local(o.Dir), limit: o.Size, note: o.Note, write: writeBlock}
	if err := c.prepare(); err != nil {
		return nil, fmt.Errorf("cache of objects: %w", err)
	}
	if !inUse.CompareAndSwap(nil, c) {
		return nil, fmt.Errorf("%s: this process has a cache of objects already", o.Dir)
	}
	return func() { inUse.CompareAndSwap(c, nil) }, nil
}

// haveStores reports whether any URL can be opened at all.
func haveStores() bool {
	registry.Lock()
	defer registry.Unlock()
	return len(openers)+len(opened) > 0
}

// prepare makes an empty directory a cache, removes leftovers of killed processes, and shrinks the
// cache to its size limit.
func (c *cache) prepare() error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil { // the contents may be private
		return err
	}
	st, err := os.Stat(c.dir)
	if err != nil {
		return err
	}
	if err := checkOwner(c.dir, st); err != nil {
		return err
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	meter := filepath.Join(c.dir, meterFile)
	if len(entries) > 0 {
		if _, err := os.Lstat(meter); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s holds other files (%s) and is not a cache: give it an empty directory", c.dir, entries[0].Name())
		}
	}
	f, err := os.OpenFile(meter, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	if err := os.Mkdir(c.temp(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	m, err := c.lock()
	if err != nil {
		return err
	}
	defer m.release()
	if m.foreign {
		return fmt.Errorf("%s was not written by tfrec: give the cache another directory", meter)
	}
	if m.unknown || m.total > c.limit {
		return c.evict(m, 0)
	}
	_, err = c.sweep(time.Now())
	return err
}

func (c *cache) temp() string { return filepath.Join(c.dir, "tmp") }

// pauseAfterFailure is the time without writes to the cache after a write has failed.
const pauseAfterFailure = time.Minute

// failed disables writes for a while, so that a full disk is not tried again for each block.
func (c *cache) failed(err error) {
	c.resume.Store(time.Now().Add(pauseAfterFailure).UnixNano())
	c.told.Do(func() {
		if c.note != nil {
			c.note(fmt.Sprintf("the cache of objects cannot be written to, and reading continues without it: %v", err))
		}
	})
}

func (c *cache) paused() bool { return time.Now().UnixNano() < c.resume.Load() }

// keep adds a block of an object to the cache, unless it exists.
func (e *cached) keep(block int64, data []byte) {
	c := e.cache
	if c.paused() {
		return
	}
	path := e.path(block)
	if _, err := os.Lstat(path); err == nil {
		return
	}
	room := scratch.Get().(*scratchSpace)
	defer scratch.Put(room)
	head := e.appendSums(e.appendHead(room[:0], block), data, block)
	f, err := c.reserve(int64(len(head) + len(data)))
	if f == nil {
		if err != nil {
			c.failed(err)
		}
		return
	}
	if err = c.write(f, head, data); err == nil {
		err = rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name()) // what it was to have stays counted until all is counted again
		c.failed(err)
	}
}

// writeBlock fills a file and closes it.
func writeBlock(f *os.File, head, data []byte) error {
	_, err := f.Write(head)
	if err == nil {
		_, err = f.Write(data)
	}
	return errors.Join(err, f.Close())
}

// rename publishes a block, and makes its directory if necessary.
func rename(temp, path string) error {
	err := os.Rename(temp, path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(temp, path)
}

// load fills p with an object's bytes from off on, which are in one block, and reports whether the
// cache had them. A block that is not what it should be is removed.
func (e *cached) load(p []byte, off int64) bool {
	block := off / blockSize
	path := e.path(block)
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	room := scratch.Get().(*scratchSpace)
	defer scratch.Put(room)
	st, err := f.Stat()
	whole := err == nil && e.read(f, st.Size(), room, p, off)
	f.Close()
	if !whole {
		os.Remove(path)
		return false
	}
	if now := time.Now(); now.Sub(st.ModTime()) > touchAfter {
		os.Chtimes(path, time.Time{}, now) // it was used; a lost note of that loses nothing
	}
	return true
}

// touchAfter is the age that a file's time of last use must reach before it is updated.
const touchAfter = time.Second

// read fills p with the bytes of a block from off on, from its file f of size bytes, and verifies
// the checksums. It reports whether it succeeded.
func (e *cached) read(f *os.File, size int64, room *scratchSpace, p []byte, off int64) bool {
	block := off / blockSize
	begin := block * blockSize
	length := min(blockSize, e.size-begin)
	want := e.appendHead(room[:0], block)
	sums := int((length + chunkSize - 1) / chunkSize * sumSize)
	head := room[len(want) : 2*len(want)+sums]
	data := room[2*len(want)+sums:]
	if size != int64(len(head))+length {
		return false
	}
	if _, err := f.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, want) {
		return false
	}
	// Whole chunks have checksums.
	from := (off - begin) / chunkSize * chunkSize
	to := min((off-begin+int64(len(p))+chunkSize-1)/chunkSize*chunkSize, length)
	in := p
	if int64(len(p)) != to-from {
		in = data[:to-from]
	}
	if _, err := f.ReadAt(in, int64(len(head))+from); err != nil {
		return false
	}
	if !sumsHold(in, head[len(want)+int(from/chunkSize*sumSize):], begin+from) {
		return false
	}
	if int64(len(p)) != to-from {
		copy(p, in[off-begin-from:])
	}
	return true
}
