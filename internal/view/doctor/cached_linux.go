package doctor

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// cachedBytes adds up how much of the files that are read the page cache has.
type cachedBytes struct {
	mu           sync.Mutex
	pages, known int64
	unknown      bool
}

// drop drops a file from the kernel's page cache, and counts the remaining pages: those that are
// dirty or mapped.
func (c *cachedBytes) drop(f storage.File) {
	file, ok := f.(*os.File)
	if !ok {
		return
	}
	info, err := file.Stat()
	if err != nil {
		return
	}
	fd := int(file.Fd())
	unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED) // best effort: what remains is counted
	var stat unix.Cachestat_t
	err = unix.Cachestat(uint(fd), &unix.CachestatRange{Len: uint64(info.Size())}, &stat, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unknown = c.unknown || err != nil
	c.pages += int64(stat.Cache)
	c.known += (info.Size() + int64(os.Getpagesize()) - 1) / int64(os.Getpagesize())
}

// share returns the share of the files, 0 to 1; nil if the kernel does not say (before Linux 6.5).
func (c *cachedBytes) share() *float64 {
	if c.unknown || c.known == 0 {
		return nil
	}
	share := min(float64(c.pages)/float64(c.known), 1)
	return &share
}
