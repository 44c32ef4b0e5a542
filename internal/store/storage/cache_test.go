package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// useCache has the test's objects cached, and returns the directory.
func useCache(t *testing.T, limit int64) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	useCacheIn(t, CacheOptions{Dir: dir, Size: limit, Note: func(s string) { t.Error(s) }})
	return dir
}

func useCacheIn(t *testing.T, o CacheOptions) {
	t.Helper()
	stop, err := UseCache(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	if inUse.Load() == nil {
		t.Fatal("a cache without a store is none: make the store first")
	}
}

// blocks returns the files of blocks in a cache, and what all files there take.
func blocks(t *testing.T, dir string) (paths []string, total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was evicted meanwhile
		}
		if err != nil || e.IsDir() || e.Name() == meterFile {
			return err
		}
		st, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		total += onDisk(st.Size())
		if filepath.Base(filepath.Dir(path)) != "tmp" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths, total
}

// readAll opens an object and reads it from front to back.
func readAll(t *testing.T, path string, want []byte) {
	t.Helper()
	f, err := Open(quick(t), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, %v; want %d, or they are others", path, len(got), err, len(want))
	}
}

func TestCacheReadsOnce(t *testing.T) {
	sizes := []int{0, 1, chunkSize, blockSize - 1, blockSize, blockSize + 1, partSize + 17, 3*partSize + blockSize + 5}
	f, root := newFake(t, nil)
	dir := useCache(t, 1<<30)
	for _, size := range sizes {
		f.put(fmt.Sprint(size), noise(size))
	}
	for _, round := range []string{"cold", "warm"} {
		f.opens, f.bytes, f.stats = 0, 0, 0
		for _, size := range sizes {
			readAll(t, fmt.Sprint(root, "/", size), noise(size))
		}
		if round == "warm" && (f.opens != 1 || f.stats != len(sizes)) {
			t.Errorf("warm: %d requests for data, %d for versions; want 1, for the empty object, and %d", f.opens, f.stats, len(sizes))
		}
	}
	want := 0
	for _, size := range sizes {
		want += (size + blockSize - 1) / blockSize
	}
	if paths, _ := blocks(t, dir); len(paths) != want {
		t.Errorf("%d blocks in the cache, want %d", len(paths), want)
	}
}

// Reads of a few bytes at any place get what they should, cold and warm, and bring
// whole blocks that serve those around them.
func TestCacheReadAtAnyOffset(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(2*partSize + 5)
	f.put("x", want)
	useCache(t, 1<<30)
	for range 2 {
		file := open(t, root+"/x")
		var group sync.WaitGroup
		for g := range 4 {
			group.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 2))
				for range 100 {
					at := r.Int64N(int64(len(want)))
					p := make([]byte, r.IntN([]int{100, 50_000, 1_000_000}[r.IntN(3)]))
					n, err := file.ReadAt(p, at)
					if n != min(len(p), len(want)-int(at)) || err != nil && err != io.EOF || !bytes.Equal(p[:n], want[at:int(at)+n]) {
						t.Errorf("ReadAt(%d bytes, %d) = %d, %v", len(p), at, n, err)
						return
					}
				}
			})
		}
		group.Wait()
	}
	f.opens = 0
	if readAll(t, root+"/x", want); f.opens > 0 {
		t.Errorf("%d requests for what was read before", f.opens)
	}
}

// What was listed is read without any request when the cache has that version, and
// never from another one.
func TestCacheOfWhatWasListed(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(3*blockSize + 7)
	f.put("x", want)
	useCache(t, 1<<30)
	look := func() Object {
		st, err := Stat(quick(t), root+"/x")
		if err != nil {
			t.Fatal(err)
		}
		return st.Sys().(Object)
	}
	is := look()
	for range 2 {
		if got, err := Parse(root+"/x").ReadListed(quick(t), is, nil); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if f.opens != 1 || f.stats != 1 {
		t.Errorf("%d requests for data, %d for versions; want 1 and 1", f.opens, f.stats)
	}
	now := noise(len(want) + 1)[1:]
	f.put("x", now)
	if got, err := Parse(root+"/x").ReadListed(quick(t), look(), nil); err != nil || !bytes.Equal(got, now) {
		t.Errorf("the new one: %d bytes, %v", len(got), err)
	}
	if _, err := Parse(root+"/x").ReadListed(quick(t), is, nil); !errors.Is(err, ErrChanged) {
		t.Errorf("the old one: %v", err)
	}
}

// A reader of records far from each other asks for one block each, and for nothing
// when it comes back to it.
func TestCacheRoundsToBlocks(t *testing.T) {
	f, root := newFake(t, nil)
	f.put("x", noise(3*partSize))
	useCache(t, 1<<30)
	file := open(t, root+"/x")
	for _, at := range []int64{5_000_000, 9_000_000, 5_010_000, 9_010_000} {
		if _, err := file.ReadAt(make([]byte, 1000), at); err != nil {
			t.Fatal(err)
		}
	}
	if f.opens != 3 || f.bytes != 3*blockSize {
		t.Errorf("%d requests for %d bytes; want 3, of a block each", f.opens, f.bytes)
	}
}

func TestCacheAndReplacedObjects(t *testing.T) {
	f, root := newFake(t, nil)
	old, now := noise(10*blockSize), noise(10*blockSize + 1)[1:]
	f.put("x", old)
	dir := useCache(t, 1<<30)
	readAll(t, root+"/x", old)
	file := open(t, root+"/x")
	f.put("x", now)
	readAll(t, root+"/x", now) // of the same size: never what is in the cache
	if paths, _ := blocks(t, dir); len(paths) != 10 {
		t.Errorf("%d blocks: the old ones stayed", len(paths))
	}
	// A reader that opened the old one does not get the new one's.
	if _, err := io.ReadAll(file); !errors.Is(err, ErrChanged) {
		t.Errorf("reading on: %v, want ErrChanged", err)
	}
	f.opens = 0
	readAll(t, root+"/x", now)
	if f.opens > 1 { // the reader that continued removed its beginning, and added nothing
		t.Errorf("%d requests for the new object", f.opens)
	}
	f.mu.Lock()
	delete(f.objects, "x")
	f.mu.Unlock()
	if _, err := Open(quick(t), root+"/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening what was deleted: %v", err)
	}
}

// elsewhere is a store of other objects with the same URLs.
type elsewhere struct{ *fake }

func (elsewhere) Server() string { return "https://another.example" }

func TestCacheTellsPlacesApart(t *testing.T) {
	f, root := newFake(t, map[string]string{"x": "here"})
	useCache(t, 1<<30)
	readAll(t, root+"/x", []byte("here"))
	there := &fake{objects: map[string][]byte{"x": []byte("away")}, version: map[string]int{"x": 1}}
	host := strings.TrimPrefix(root, "mem://")
	registry.Lock()
	opened["mem://"+host] = elsewhere{there}
	registry.Unlock()
	readAll(t, root+"/x", []byte("away"))
	registry.Lock()
	opened["mem://"+host] = f
	registry.Unlock()
	readAll(t, root+"/x", []byte("here"))
}

// What is known by a time of now may be replaced within it.
func TestCacheWaitsForTimesToSettle(t *testing.T) {
	c := &cache{}
	for _, test := range []struct {
		is   Object
		kept bool
	}{
		{Object{Size: 1, Version: "7"}, true},
		{Object{Size: 1, Version: ""}, false},
		{Object{Size: 1, Version: Modified + "x", ModTime: time.Now()}, false},
		{Object{Size: 1, Version: Modified + "x", ModTime: time.Now().Add(-time.Hour)}, true},
		{Object{Size: 1, Version: strings.Repeat("x", maxNames)}, false},
	} {
		if got := c.in("id", test.is) != nil; got != test.kept {
			t.Errorf("%+v: kept %v", test.is, got)
		}
	}
}

func TestCacheDirectories(t *testing.T) {
	newFake(t, nil)
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, meterFile), []byte("another's file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]CacheOptions{
		"needs a directory":        {},
		"is the least":             {Dir: t.TempDir(), Size: MinCacheSize - 1},
		"holds other files":        {Dir: full},
		"was not written by tfrec": {Dir: foreign},
		"local directory":          {Dir: "s3://bucket/cache"},
		"not a directory":          {Dir: filepath.Join(full, "mine")},
	} {
		if _, err := UseCache(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	if entries, _ := os.ReadDir(full); len(entries) != 1 {
		t.Errorf("a folder that was refused was written to: %v", entries)
	}
	useCacheIn(t, CacheOptions{Dir: t.TempDir()})
	if _, err := UseCache(CacheOptions{Dir: t.TempDir()}); err == nil {
		t.Error("two at a time")
	}
}

func BenchmarkCache(b *testing.B) {
	for name, size := range map[string]int{"stream": partSize, "record": 10_000} {
		b.Run(name, func(b *testing.B) {
			c := &cache{dir: b.TempDir(), limit: 1 << 30, write: writeBlock}
			if err := c.prepare(); err != nil {
				b.Fatal(err)
			}
			e := c.in("x", Object{Size: 64 << 20, Version: "1"})
			data := noise(blockSize)
			for i := range e.size / blockSize {
				e.keep(i, data)
			}
			p := make([]byte, size)
			r := rand.New(rand.NewPCG(1, 1))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				at := r.Int64N(e.size/int64(blockSize)-16) * blockSize
				for q := p; len(q) > 0; {
					n := min(len(q), blockSize)
					if !e.load(q[:n], at) {
						b.Fatal("not there")
					}
					q, at = q[n:], at+blockSize
				}
			}
		})
	}
}
