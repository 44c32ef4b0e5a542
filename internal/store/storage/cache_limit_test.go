package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// fileOf returns where the cache in use has a block of an object of a fake.
func fileOf(t *testing.T, url string, block int64) string {
	t.Helper()
	l := Parse(url)
	s, err := l.store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return inUse.Load().path(idOf(s, l), block)
}

func TestCacheEvictsWhatIsLeastRecentlyUsed(t *testing.T) {
	f, root := newFake(t, nil)
	// Ten objects of about a block each fit, and a tenth is freed.
	const limit = 10 * (blockSize + 4096) * 2
	dir := useCache(t, limit)
	name := func(i int) string { return fmt.Sprintf("%s/%02d", root, i) }
	ago := func(i int, d time.Duration) {
		if err := os.Chtimes(fileOf(t, name(i), 0), time.Time{}, time.Now().Add(-d)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 21 {
		f.put(fmt.Sprintf("%02d", i), noise(blockSize))
	}
	for i := range 20 {
		readAll(t, name(i), noise(blockSize))
		ago(i, time.Hour-time.Duration(i)*time.Minute) // 0 is the oldest
	}
	if paths, total := blocks(t, dir); len(paths) != 20 || total > limit {
		t.Fatalf("%d blocks of %d bytes, want 20", len(paths), total)
	}
	for _, i := range []int{0, 2} {
		readAll(t, name(i), noise(blockSize)) // and so used
	}
	readAll(t, name(20), noise(blockSize))
	for i := range 21 {
		_, err := os.Stat(fileOf(t, name(i), 0))
		if gone := i == 1 || i == 3 || i == 4; gone != (err != nil) {
			t.Errorf("object %d: %v; want 1, 3 and 4 gone, which were used least recently", i, err)
		}
	}
}

// Foreign files in the directory are kept, and those of dead processes are removed.
func TestCacheSweeps(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(3 * partSize)
	f.put("x", want)
	dir := filepath.Join(t.TempDir(), "cache")
	o := CacheOptions{Dir: dir, Size: MinCacheSize}
	stop, err := UseCache(o)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	hourAgo := time.Now().Add(-time.Hour)
	mine := []string{"notes.txt", "tmp/mine", "ab/mine", "ab/abababababababababababababababab.txt"}
	dead, live := filepath.Join(dir, "tmp", "block-1"), filepath.Join(dir, "tmp", "block-2")
	if err := os.MkdirAll(filepath.Join(dir, "ab"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range mine {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, blockSize), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Chtimes(filepath.Join(dir, name), hourAgo, hourAgo)
	}
	os.WriteFile(dead, make([]byte, blockSize), 0o600)
	os.Chtimes(dead, hourAgo, hourAgo)
	os.WriteFile(live, make([]byte, blockSize), 0o600)
	useCacheIn(t, o)
	if _, err := os.Stat(dead); err == nil {
		t.Error("what a dead process left is still there")
	}
	for range 2 {
		readAll(t, root+"/x", want)
	}
	for _, name := range append(mine, "tmp/block-2") {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Size() != blockSize {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An invalid meter is recounted, and a process with a lower limit shrinks the cache to it.
func TestCacheCountsAgain(t *testing.T) {
	f, root := newFake(t, nil)
	f.put("x", noise(2*partSize))
	for _, text := range []string{meterMagic, meterMagic[:20], "", meterMagic + "xyz\n", meterMagic + "-0000000000000000001\n", meterMagic + "00000000000099999999\n"} {
		dir := filepath.Join(t.TempDir(), "cache")
		stop, err := UseCache(CacheOptions{Dir: dir, Size: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		readAll(t, root+"/x", noise(2*partSize))
		stop()
		if err := os.WriteFile(filepath.Join(dir, meterFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if stop, err = UseCache(CacheOptions{Dir: dir, Size: MinCacheSize}); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		paths, total := blocks(t, dir)
		if total > MinCacheSize || total < MinCacheSize/2 {
			t.Errorf("%q: %d blocks of %d bytes", text, len(paths), total)
		}
		stop()
	}
}

// hammerIn in the environment makes TestCacheHammer a process that reads through
// the cache in that directory.
const hammerIn = "TFREC_TEST_HAMMER"

const hammerLimit = 2 * MinCacheSize

// Several processes that read four times what the cache holds, at random, all get the right bytes,
// and the limit is never exceeded.
func TestCacheHammer(t *testing.T) {
	dir := os.Getenv(hammerIn)
	if dir != "" {
		hammer(t, dir)
		return
	}
	dir = filepath.Join(t.TempDir(), "cache")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	const processes = 2
	for i := range processes {
		c := exec.Command(self, "-test.run=^TestCacheHammer$", "-test.v")
		c.Env = append(os.Environ(), hammerIn+"="+dir, "TFREC_TEST_SEED="+strconv.Itoa(i))
		go func() {
			text, err := c.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w\n%s", err, text)
			}
			ended <- err
		}()
	}
	most, looks := int64(0), 0
	// No file comes while a look has the lock. One that gets its name meanwhile may be overlooked.
	look := func() {
		m, err := (&cache{dir: dir}).lock()
		if errors.Is(err, fs.ErrNotExist) {
			return // there is no cache yet
		}
		if err != nil {
			t.Fatal(err)
		}
		defer m.release()
		_, total := blocks(t, dir)
		most = max(most, total)
		looks++
	}
	for left := processes; left > 0; {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			left--
		default:
			look()
			time.Sleep(time.Millisecond)
		}
	}
	look()
	if slack := int64(hammerLimit / 10); most > hammerLimit+slack || most < hammerLimit/2 {
		t.Errorf("at most %d bytes in %d looks, of %d allowed", most, looks, int64(hammerLimit))
	}
	newFake(t, nil)
	useCacheIn(t, CacheOptions{Dir: dir, Size: hammerLimit})
	if _, total := blocks(t, dir); total > hammerLimit {
		t.Errorf("%d bytes at the end, of %d allowed", total, int64(hammerLimit))
	}
}

func hammer(t *testing.T, dir string) {
	seed, err := strconv.ParseUint(os.Getenv("TFREC_TEST_SEED"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	f, root := newFake(t, nil)
	useCacheIn(t, CacheOptions{Dir: dir, Size: hammerLimit, Note: func(s string) { t.Error(s) }})
	all := noise(9 * partSize)
	for i := range 8 {
		f.put(strconv.Itoa(i), all[i*partSize:(i+1)*partSize+i])
	}
	r := rand.New(rand.NewPCG(seed, 9))
	for range 25 {
		i := r.IntN(8)
		want := all[i*partSize : (i+1)*partSize+i]
		file := open(t, fmt.Sprint(root, "/", i))
		if r.IntN(4) == 0 {
			if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("read %d bytes, %v", len(got), err)
			}
		}
		for range 10 {
			at := r.IntN(len(want) - 100_000)
			p := make([]byte, r.IntN(100_000))
			if _, err := file.ReadAt(p, int64(at)); err != nil || !bytes.Equal(p, want[at:at+len(p)]) {
				t.Fatalf("ReadAt(%d bytes, %d): %v", len(p), at, err)
			}
		}
		file.Close()
	}
	if f.bytes == 0 {
		t.Error("nothing was asked for")
	}
}
