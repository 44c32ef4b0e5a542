package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// Whatever happens to the files of a cache, what is read is what the store has.
func TestCacheDamage(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(5*blockSize + 100)
	f.put("x", want)
	dir := useCache(t, 1<<30)
	readAll(t, root+"/x", want)
	other := noise(len(want) + 1)[1:]
	f.put("y", other)
	readAll(t, root+"/y", other)
	hurt := map[string]func(data []byte, r *rand.Rand) []byte{
		"a bit":         func(data []byte, r *rand.Rand) []byte { data[r.IntN(len(data))] ^= 1 << r.IntN(8); return data },
		"cut":           func(data []byte, r *rand.Rand) []byte { return data[:r.IntN(len(data))] },
		"emptied":       func([]byte, *rand.Rand) []byte { return nil },
		"longer":        func(data []byte, _ *rand.Rand) []byte { return append(data, 0) },
		"zeros":         func(data []byte, r *rand.Rand) []byte { clear(data[r.IntN(len(data)):]); return data },
		"other content": func([]byte, *rand.Rand) []byte { return []byte("something else altogether") },
	}
	r := rand.New(rand.NewPCG(5, 5))
	for name, damage := range hurt {
		for range 3 {
			paths, _ := blocks(t, dir)
			if len(paths) != 12 {
				t.Fatalf("%s: %d blocks, want 12: they were not fetched anew", name, len(paths))
			}
			for _, path := range paths {
				data, err := os.ReadFile(path)
				if err == nil {
					err = os.WriteFile(path, damage(data, r), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			f.bytes = 0
			readAll(t, root+"/x", want)
			readAll(t, root+"/y", other)
			if name != "zeros" && f.bytes < int64(len(want)+len(other)) { // the last bytes may already be zeros
				t.Errorf("%s: only %d bytes asked for: damage went by", name, f.bytes)
			}
		}
	}
	// One block in the place of another.
	paths, _ := blocks(t, dir)
	first, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if err := os.WriteFile(path, first, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	readAll(t, root+"/x", want)
	readAll(t, root+"/y", other)
}

// Files that vanish under a reader cost a request.
func TestCacheVanishes(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(20 * blockSize)
	f.put("x", want)
	dir := useCache(t, 1<<30)
	readAll(t, root+"/x", want)
	file := open(t, root+"/x")
	if _, err := io.ReadFull(file, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	paths, _ := blocks(t, dir)
	for _, path := range paths {
		os.Remove(path)
	}
	file.Seek(0, io.SeekStart)
	if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A cache that becomes unwritable reports it once, and everything is still read.
func TestCacheOnAFullDisk(t *testing.T) {
	for name, fail := range map[string]func(t *testing.T, dir string){
		"full": func(t *testing.T, _ string) {
			inUse.Load().write = func(f *os.File, head, data []byte) error {
				writeBlock(f, head[:len(head)/2], nil)
				return &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
			}
		},
		"deleted": func(t *testing.T, dir string) { os.RemoveAll(dir) },
		"not writable": func(t *testing.T, dir string) {
			if err := errors.Join(os.RemoveAll(filepath.Join(dir, "tmp")), os.WriteFile(filepath.Join(dir, "tmp"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, root := newFake(t, nil)
			want := noise(partSize)
			f.put("x", want)
			f.put("y", want)
			var mu sync.Mutex
			var notes []string
			dir := filepath.Join(t.TempDir(), "cache")
			useCacheIn(t, CacheOptions{Dir: dir, Size: 1 << 30, Note: func(s string) { mu.Lock(); defer mu.Unlock(); notes = append(notes, s) }})
			readAll(t, root+"/x", want)
			fail(t, dir)
			readAll(t, root+"/y", want)
			readAll(t, root+"/y", want)
			readAll(t, root+"/x", want)
			if len(notes) != 1 {
				t.Errorf("told %d times: %q", len(notes), notes)
			}
			if paths, _ := filepath.Glob(filepath.Join(dir, "tmp", "*")); len(paths) > 0 {
				t.Errorf("left: %q", paths)
			}
			// Nothing is rounded to blocks that nobody keeps.
			file := open(t, root+"/y")
			f.bytes = 0
			if _, err := file.ReadAt(make([]byte, 10), 3_000_000); err != nil || f.bytes != 10 {
				t.Errorf("a read of 10 bytes asked for %d, %v", f.bytes, err)
			}
		})
	}
}

func TestCacheEndsWaits(t *testing.T) {
	f, root := newFake(t, nil)
	f.put("x", noise(2*blockSize))
	useCache(t, 1<<30)
	t.Run("close", func(t *testing.T) { testEnd(t, func(file File, _ context.CancelFunc) { file.Close() }) })
	t.Run("context", func(t *testing.T) { testEnd(t, func(_ File, cancel context.CancelFunc) { cancel() }) })
	readAll(t, root+"/x", noise(2*blockSize))
	file := open(t, root+"/x")
	file.Close()
	if _, err := file.ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("reading from a closed file: %v", err)
	}
}

func TestCacheFaults(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(3 * partSize)
	f.put("x", want)
	useCache(t, MinCacheSize) // less than the object
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(7, 7))
	f.fault = func() error {
		mu.Lock()
		defer mu.Unlock()
		if r.IntN(5) == 0 {
			return errors.New("503 slow down")
		}
		return nil
	}
	f.body = func(body io.Reader) io.Reader {
		mu.Lock()
		defer mu.Unlock()
		return io.LimitReader(body, r.Int64N(partSize))
	}
	for range 3 {
		readAll(t, root+"/x", want)
	}
}
