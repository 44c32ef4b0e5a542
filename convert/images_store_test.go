package convert

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
	"github.com/tfrec/tfrec/manifest"
)

// inStore puts a directory into an object store, and returns its URL.
func inStore(t *testing.T, dir string) (*storagetest.Store, string) {
	t.Helper()
	s := storagetest.New()
	for name, data := range contents(t, dir) {
		s.Put("photos/"+filepath.Base(dir)+"/"+name, []byte(data))
	}
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return s, nil })
	t.Cleanup(storage.Forget)
	return s, "mem://store/photos/" + filepath.Base(dir)
}

// counting counts a store's requests by kind, and the maximum in flight.
type counting struct {
	waits int // so many opens wait for each other before the first goes on
	fails func(kind, name string) error

	mu      sync.Mutex
	kinds   map[string]int
	opens   int // under way
	atATime int
	enough  chan struct{} // is closed when so many are under way
}

func (c *counting) of(s *storagetest.Store) *counting {
	c.kinds, c.enough = map[string]int{}, make(chan struct{})
	s.Fault = func(kind, name string) error {
		c.mu.Lock()
		c.kinds[kind]++
		if kind == "open" {
			c.opens++
			if c.atATime = max(c.atATime, c.opens); c.opens == c.waits {
				close(c.enough)
				c.waits = 0
			}
		}
		waits := c.waits > 0
		c.mu.Unlock()
		if kind == "open" && waits {
			<-c.enough // or for ever, which testing/synctest notices
		}
		c.mu.Lock()
		if kind == "open" {
			c.opens--
		}
		c.mu.Unlock()
		if c.fails != nil {
			return c.fails(kind, name)
		}
		return nil
	}
	return c
}

// A set of images in a store equals that on disk: one request per image, many of them concurrent,
// and one list.
func TestImagesOfAStore(t *testing.T) {
	src := directories(t, 60)
	put(t, src, "c1/deeper/x.png", pngOf(500))
	put(t, src, "c1/notes.txt", []byte("no picture"))
	put(t, src, "c2/empty.png", nil)
	for _, hidden := range []string{".git/1.png", "c1/._1.png", "__MACOSX/c1/2.png", "c1/.cache/deep/er"} {
		put(t, src, hidden, []byte("no image"))
	}
	here, there := t.TempDir(), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 3, Workers: 2, MaxErrors: Tolerance{Count: 1}}}
	want, err := Images(context.Background(), src, here, o)
	if err != nil {
		t.Fatal(err)
	}
	s, url := inStore(t, src)
	s.Put("photos/pets/c2/", nil) // what consoles make
	var c *counting
	var got *Summary
	synctest.Test(t, func(t *testing.T) {
		c = (&counting{waits: 5}).of(s)
		if got, err = Images(context.Background(), url, there, o); err != nil {
			t.Fatal(err)
		}
	})
	sameSet(t, contents(t, there), contents(t, here))
	if got.SkippedFiles != want.SkippedFiles || got.SkippedFiles != 5 {
		t.Errorf("skipped %d files, and %d on the disk, want 5", got.SkippedFiles, want.SkippedFiles)
	}
	// The list, and at most one of a single key that shows that the URL is a directory.
	if c.kinds["open"] != 61 || c.kinds["list"] > 2 {
		t.Errorf("requests for 61 pictures and one empty: %v", c.kinds)
	}
	if c.atATime <= 4 || c.atATime > storage.MostRequests() {
		t.Errorf("%d requests at a time with two workers, want more than 4 and %d at most", c.atATime, storage.MostRequests())
	}

	// Another machine that has the directory, and sees the same versions, reads nothing.
	elsewhere := moved(t, there)
	c = new(counting).of(s)
	again, err := Images(context.Background(), url, elsewhere, o)
	if err != nil || again.Status != UpToDate || c.kinds["open"] != 0 {
		t.Errorf("again: %v after %v, %v", again, c.kinds, err)
	}
	// The same bytes with another version are read, but nothing is made again.
	s.Put("photos/pets/c1/deeper/x.png", pngOf(500))
	c = new(counting).of(s)
	if again, err = Images(context.Background(), url, elsewhere, o); err != nil || again.Status != UpToDate || c.kinds["open"] != 1 {
		t.Errorf("with a picture written again: %v after %v, %v", again, c.kinds, err)
	}
}

// moved copies a directory with all state and times.
func moved(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		return os.Chtimes(filepath.Join(to, rel), st.ModTime(), st.ModTime())
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestStoresThatFail(t *testing.T) {
	src := directories(t, 40)
	reference := t.TempDir()
	o := ImageOptions{Options: Options{Shards: 2, Workers: 2, MaxErrors: Tolerance{Share: 0.5}}}
	mustImages(t, src, reference, o)
	victim := "photos/pets/" + slices.Sorted(maps.Keys(contents(t, src)))[20]
	gone := errors.New("503 slow down")
	for name, c := range map[string]struct {
		during func(s *storagetest.Store, c *counting) func(kind, name string) error
		want   error
	}{
		"one request in four fails": {func(*storagetest.Store, *counting) func(kind, name string) error {
			var mu sync.Mutex
			r := rand.New(rand.NewPCG(5, 6))
			return func(kind, _ string) error {
				mu.Lock()
				defer mu.Unlock()
				if kind == "open" && r.IntN(4) == 0 {
					return gone
				}
				return nil
			}
		}, nil},
		"replaced": {func(s *storagetest.Store, _ *counting) func(kind, name string) error {
			return func(kind, name string) error {
				if kind == "open" && name == victim {
					s.Put(victim, pngOf(7))
				}
				return nil
			}
		}, storage.ErrChanged},
		"removed": {func(s *storagetest.Store, _ *counting) func(kind, name string) error {
			return func(kind, name string) error {
				if kind == "open" && name == victim {
					return s.Remove(context.Background(), name)
				}
				return nil
			}
		}, storage.ErrChanged},
	} {
		t.Run(name, func(t *testing.T) {
			s, url := inStore(t, src)
			counts := new(counting).of(s)
			counts.fails = c.during(s, counts)
			out := t.TempDir()
			_, err := Images(context.Background(), url, out, o)
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if c.want == nil {
				sameSet(t, contents(t, out), contents(t, reference))
				return
			}
			if !strings.Contains(err.Error(), "mem://store/"+victim) {
				t.Errorf("the error does not name the object: %v", err)
			}
			if _, err := os.Stat(filepath.Join(out, manifest.File)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is a manifest: %v", err)
			}
		})
	}
}

// An object without read permission ends the run, like a file: it is not a bad sample.
func TestObjectsThatMayNotBeRead(t *testing.T) {
	src := directories(t, 10)
	s, url := inStore(t, src)
	victim := s.Names()[3]
	s.Fault = func(kind, name string) error {
		if kind == "open" && name == victim {
			return fs.ErrPermission
		}
		return nil
	}
	out := t.TempDir()
	_, err := Images(context.Background(), url, out, ImageOptions{Options: Options{MaxErrors: Tolerance{Share: 1}}})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), victim) {
		t.Errorf("got %v, want the error of %s", err, victim)
	}
	if _, err := os.Stat(filepath.Join(out, manifest.LedgerFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a ledger: %v", err)
	}
}

// Tasks that list other versions than the first one are refused.
func TestTasksSeeTheSameVersions(t *testing.T) {
	s, url := inStore(t, directories(t, 20))
	out := t.TempDir()
	o := ImageOptions{Options: Options{Shards: 4}}
	mustImages(t, url, out, taskOf(o, 0, 2))
	mustImages(t, url, out, taskOf(o, 0, 2))
	name := s.Names()[5]
	s.Put(name, slices.Clone(s.Get(name)))
	_, err := Images(context.Background(), url, out, taskOf(o, 1, 2))
	if err == nil || !strings.Contains(err.Error(), "versions of objects") {
		t.Errorf("a task that sees another version: %v", err)
	}
}

// Shards requested in any order get the right images.
func TestJobReadsAStore(t *testing.T) {
	src := directories(t, 60)
	here, there := t.TempDir(), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 6, Workers: 2}}
	mustImages(t, src, here, o)
	_, url := inStore(t, src)
	j, err := BeginImages(t.Context(), url, there, o)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	_, err = j.Run(t.Context(), func(ctx context.Context) error {
		var wait sync.WaitGroup
		for _, i := range []int{4, 0, 5, 2, 1, 3} {
			wait.Go(func() {
				if made, err := j.Make(ctx, i); err != nil || made.Errors != 0 {
					t.Errorf("shard %d: %+v, %v", i, made, err)
				}
			})
		}
		wait.Wait()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sameSet(t, contents(t, there), contents(t, here))
}
