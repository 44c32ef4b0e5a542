package storage

import (
	"cmp"
	"container/heap"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/store/atomicfile"
)

// meterFile marks a directory as a cache and holds the number of bytes in it.
const (
	meterFile  = "tfrec-cache"
	meterMagic = "Blocks of objects that tfrec read, format 1. The folder may be deleted when nobody uses it.\n"
	meterSize  = len(meterMagic) + 21 // a number of 20 digits, and the end of its line
)

// meter is that file, locked. Except after a crash of the machine it never counts too little: files
// are counted before they are created, and removed files stay counted, unless they were evicted,
// until everything is counted again.
type meter struct {
	cache   *cache
	file    *os.File
	total   int64
	unknown bool // it did not say
	foreign bool // it is something else
}

// lockTimeout bounds the wait for the lock. It is held while a file is created, or while all files
// are listed.
const lockTimeout = 10 * time.Second

// lock waits until no goroutine and no process has the meter.
func (c *cache) lock() (*meter, error) {
	c.mu.Lock()
	f, err := os.OpenFile(filepath.Join(c.dir, meterFile), os.O_RDWR, 0)
	if err != nil {
		c.mu.Unlock()
		return nil, err
	}
	for end, wait := time.Now().Add(lockTimeout), 20*time.Microsecond; ; wait = min(2*wait, 5*time.Millisecond) {
		if err = atomicfile.Lock(f); !errors.Is(err, atomicfile.ErrLocked) || time.Now().After(end) || c.paused() {
			break
		}
		time.Sleep(wait)
	}
	m := &meter{cache: c, file: f}
	if err == nil {
		err = m.read()
	}
	if err != nil {
		m.release()
		return nil, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return m, nil
}

func (m *meter) release() {
	m.file.Close() // and with it the lock
	m.cache.mu.Unlock()
}

func (m *meter) read() error {
	var text [meterSize]byte
	n, err := m.file.ReadAt(text[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	number, ours := strings.CutPrefix(string(text[:n]), meterMagic)
	m.foreign = !ours && n > 0 && !strings.HasPrefix(meterMagic, string(text[:n]))
	if _, err := fmt.Sscanf(number, "%020d\n", &m.total); !ours || err != nil || m.total < 0 {
		m.total, m.unknown = 0, true
	}
	return nil
}

func (m *meter) write() error {
	_, err := m.file.WriteAt(fmt.Appendf(nil, "%s%020d\n", meterMagic, m.total), 0)
	return err
}

// onDisk returns the disk usage to assume for a file of n bytes.
func onDisk(n int64) int64 { return (n + 4095) &^ 4095 }

// reserve makes room for n bytes and creates a temporary file of that size, so that other processes
// count it. It returns a nil file and a nil error if the cache has no room now.
func (c *cache) reserve(n int64) (*os.File, error) {
	m, err := c.lock()
	if err != nil {
		return nil, err
	}
	defer m.release()
	if m.unknown || m.total+onDisk(n) > c.limit {
		if err := c.evict(m, onDisk(n)); err != nil || m.total+onDisk(n) > c.limit {
			return nil, err
		}
	}
	m.total += onDisk(n)
	if err := m.write(); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(c.temp(), "block-*")
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(n); err != nil {
		atomicfile.Discard(f)
		return nil, err
	}
	return f, nil
}

// used is a block's file.
type used struct {
	at   int64 // time of its last use, in ns since 1970
	name [16]byte
	size int64
}

// oldest is a heap of files with the one used last on top.
type oldest []used

func (o oldest) Len() int           { return len(o) }
func (o oldest) Less(i, j int) bool { return o[i].at > o[j].at }
func (o oldest) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }
func (o *oldest) Push(x any)        { *o = append(*o, x.(used)) }
func (o *oldest) Pop() any {
	last := (*o)[len(*o)-1]
	*o = (*o)[:len(*o)-1]
	return last
}

// mostEvicted bounds how many files are removed after one count of all, and with that the memory
// for them: 2 MiB.
const mostEvicted = 1 << 16

// evict counts all files and removes the least recently used, until a tenth of the limit and n
// bytes are free, so that not every block requires counting.
func (c *cache) evict(m *meter, n int64) error {
	for {
		files, total, err := c.count()
		if err != nil {
			return err
		}
		m.total = total
		freed := false
		slices.SortFunc(files, func(a, b used) int { return cmp.Compare(a.at, b.at) })
		for _, f := range files {
			if m.total+n <= c.limit-c.limit/10 {
				break
			}
			if err := os.Remove(c.pathOf(f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				continue // it stays counted
			}
			m.total -= f.size
			freed = true
		}
		if !freed || m.total+n <= c.limit {
			return m.write()
		}
	}
}

// count returns the least recently used files, up to mostEvicted of them, and the total disk usage,
// including files that are being written.
func (c *cache) count() (files oldest, total int64, err error) {
	if total, err = c.sweep(time.Now()); err != nil {
		return nil, 0, err
	}
	for i := range 256 {
		err := list(filepath.Join(c.dir, fmt.Sprintf("%02x", i)), func(st fs.FileInfo) {
			name, err := hex.DecodeString(st.Name())
			if err != nil || len(name) != 16 || int(name[0]) != i {
				return // not ours
			}
			f := used{at: st.ModTime().UnixNano(), name: [16]byte(name), size: onDisk(st.Size())}
			total += f.size
			if len(files) == mostEvicted {
				if f.at >= files[0].at {
					return
				}
				heap.Pop(&files)
			}
			heap.Push(&files, f)
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return files, total, nil
}

// leftover is the age from which on a temporary file is of a process that died.
// Should it live, its block is not kept: that is all.
const leftover = 10 * time.Minute

// sweep removes temporary files of dead processes and returns the disk usage of the others.
func (c *cache) sweep(now time.Time) (total int64, err error) {
	err = list(c.temp(), func(st fs.FileInfo) {
		if !strings.HasPrefix(st.Name(), "block-") {
			return // not ours
		}
		if now.Sub(st.ModTime()) > leftover && os.Remove(filepath.Join(c.temp(), st.Name())) == nil {
			return
		}
		total += onDisk(st.Size())
	})
	return total, err
}

// list calls f for each regular file in a directory, if there is one.
func list(dir string, f func(fs.FileInfo)) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(512)
		for _, e := range entries {
			if st, err := e.Info(); err == nil && st.Mode().IsRegular() {
				f(st)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
