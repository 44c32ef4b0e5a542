package osfile

import (
	"context"
	"crypto/rand"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cached returns how many bytes of a file are in the page cache.
func cached(t *testing.T, f *os.File, size int) (n int64) {
	t.Helper()
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(data)
	page := os.Getpagesize()
	pages := make([]byte, (size+page-1)/page)
	if _, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(size), uintptr(unsafe.Pointer(&pages[0]))); e != 0 {
		t.Fatal(e)
	}
	for _, p := range pages {
		n += int64(p&1) * int64(page)
	}
	return n
}

// drained writes a file of parts and returns how much of it is cached after it is synced.
func drained(t *testing.T, dir string, share *CacheShare, parts, part int) (n int64, size int) {
	t.Helper()
	f, err := os.CreateTemp(dir, "shard")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data := make([]byte, part)
	rand.Read(data)
	d := NewDrained(context.Background(), f, share)
	for range parts {
		if n, err := d.Write(data); n != part || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := d.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	return cached(t, f, parts*part), parts * part
}

func TestCacheShare(t *testing.T) {
	dir := t.TempDir()
	if n, _ := drained(t, dir, NewCacheShare(0), 1, 1<<20); n > 0 {
		t.Skip("the file system of the temporary directory keeps its files in memory")
	}
	for name, c := range map[string]struct {
		share       *CacheShare
		parts, part int
		least, most int64
	}{
		"no bound":         {nil, 12, 5 << 20, 60 << 20, 60 << 20},
		"within the share": {NewCacheShare(80 << 20), 12, 5 << 20, 60 << 20, 60 << 20},
		"beyond it":        {NewCacheShare(8 << 20), 12, 5<<20 + 1, 0, 1 << 20},
		"one large write":  {NewCacheShare(8 << 20), 1, 60 << 20, 0, 1 << 20},
		"small writes":     {NewCacheShare(8 << 20), 60 << 10, 1 << 10, 0, 1 << 20},
	} {
		if n, size := drained(t, dir, c.share, c.parts, c.part); n < c.least-int64(size)/8 || n > c.most {
			t.Errorf("%s: %d of %d bytes are in the page cache; want %d to %d", name, n, size, c.least, c.most)
		}
	}
}

// Files of one run share what they may keep.
func TestCacheShareOfManyFiles(t *testing.T) {
	dir, share := t.TempDir(), NewCacheShare(20<<20)
	if n, _ := drained(t, dir, NewCacheShare(0), 1, 1<<20); n > 0 {
		t.Skip("the file system of the temporary directory keeps its files in memory")
	}
	var kept []bool
	for range 4 {
		n, size := drained(t, dir, share, 8, 1<<20)
		kept = append(kept, n > int64(size)/2)
	}
	if !kept[0] || !kept[1] || kept[2] || kept[3] {
		t.Errorf("files of 8 MiB that stay in the cache, with 20 MiB for all: %v", kept)
	}
}
