package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/store/claim"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// expireClaims has claims renewed and expire in these times until the test ends.
func expireClaims(t *testing.T, renew, expire time.Duration) {
	t.Helper()
	r, e := claim.Renew, claim.Expire
	t.Cleanup(func() { claim.Renew, claim.Expire = r, e })
	claim.Renew, claim.Expire = renew, expire
}

// emptyStore returns a store and the URL of a directory in it. Its clock is an hour
// ahead of this machine's. Claims do not expire while a busy machine does something else.
func emptyStore(t *testing.T) (*storagetest.Store, string) {
	t.Helper()
	expireClaims(t, 250*time.Millisecond, time.Minute)
	s := storagetest.New()
	s.Now = func() time.Time { return time.Now().Add(time.Hour) }
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return s, nil })
	t.Cleanup(storage.Forget)
	return s, "mem://store/sets/a"
}

// inDirectory returns all files of the set in a store except the state, and the names of the state.
func inDirectory(s *storagetest.Store) (files map[string]string, state []string) {
	files = map[string]string{}
	for _, name := range s.Names() {
		rel := strings.TrimPrefix(name, "sets/a/")
		if strings.HasPrefix(rel, shard.StateDir+"/") {
			state = append(state, rel)
		} else {
			files[rel] = string(s.Get(name))
		}
	}
	return files, state
}

// begun returns the names of uploads that were neither committed nor aborted.
func begun(s *storagetest.Store) (names []string) {
	for l := range s.Unfinished(context.Background(), "") {
		names = append(names, l.Name)
	}
	return names
}

// nothingOfRuns fails for claims and uploads left over.
func nothingOfRuns(t *testing.T, s *storagetest.Store) {
	t.Helper()
	if left := begun(s); len(left) > 0 {
		t.Errorf("uploads are left: %q", left)
	}
	_, state := inDirectory(s)
	for _, name := range state {
		if strings.Contains(name, "/claims/") || strings.Contains(name, "/together/") {
			t.Errorf("%s is left", name)
		}
	}
}

func TestSetsInStoresAreThoseOfTheDisk(t *testing.T) {
	src := directories(t, 30)
	rows := writeTable(t, "rows.csv", numberedRows(3000))
	runs := map[string]func(t *testing.T, out string) *Summary{
		"images": func(t *testing.T, out string) *Summary {
			return mustImages(t, src, out, ImageOptions{Options: Options{Shards: 4, Splits: []SplitShare{{Name: "train", Share: 0.7}, {Name: "val", Share: 0.3}}}})
		},
		"csv": func(t *testing.T, out string) *Summary {
			return mustCSV(t, []string{rows}, out, CSVOptions{Options: Options{Shards: 3, MaxErrors: Tolerance{Count: 5}}})
		},
		"csv shuffled": func(t *testing.T, out string) *Summary {
			return mustCSV(t, []string{rows}, out, CSVOptions{Options: Options{Shards: 3, Compression: 2, MaxErrors: Tolerance{Count: 5}}, Shuffle: true})
		},
	}
	for name, run := range runs {
		t.Run(name, func(t *testing.T) {
			s, url := emptyStore(t)
			local := t.TempDir()
			here, there := run(t, local), run(t, url)
			if here.Fingerprint != there.Fingerprint || there.Status != Written {
				t.Errorf("here %+v, there %+v", here, there)
			}
			files, _ := inDirectory(s)
			sameSet(t, files, contents(t, local))
			nothingOfRuns(t, s)
			if sum := run(t, url); sum.Status != UpToDate {
				t.Errorf("again: %s", sum.Status)
			}
			for _, name := range s.Names() { // a lost one is made again, and nothing else
				if strings.Contains(name, "-00001-of-") && !strings.Contains(name, "index/") && !strings.Contains(name, "/"+shard.StateDir+"/") {
					if err := s.Remove(t.Context(), name); err != nil {
						t.Fatal(err)
					}
					break
				}
			}
			if sum := run(t, url); sum.ShardsWritten != 1 {
				t.Errorf("%d shards were written where one was missing", sum.ShardsWritten)
			}
			files, _ = inDirectory(s)
			sameSet(t, files, contents(t, local))
		})
	}
}

// The same files change as on disk, with the same bytes.
func TestSetsInStoresAreUpdated(t *testing.T) {
	s, url := emptyStore(t)
	src, local := directories(t, 40), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 4}}
	both := func() (here, there *Summary) {
		t.Helper()
		here, there = mustImages(t, src, local, o), mustImages(t, src, url, o)
		files, _ := inDirectory(s)
		sameSet(t, files, contents(t, local))
		if here.Status != there.Status || here.ShardsWritten != there.ShardsWritten {
			t.Errorf("%s, %d shards here; %s, %d there", here.Status, here.ShardsWritten, there.Status, there.ShardsWritten)
		}
		return here, there
	}
	both()
	put(t, src, "c1/004.png", pngOf(99))
	if err := os.Chtimes(filepath.Join(src, "c1", "004.png"), old.Add(time.Hour), old.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if here, _ := both(); here.ShardsWritten != 1 {
		t.Errorf("%d shards written", here.ShardsWritten)
	}
	o.Shards, o.Overwrite = 3, true
	both()
	nothingOfRuns(t, s)
	if _, err := Images(t.Context(), src, url, ImageOptions{Options: Options{Shards: 7}}); err == nil || !strings.Contains(err.Error(), url) {
		t.Errorf("other options: %v", err)
	}
	s.Put("sets/b/pets-train.tfrecord-00001-of-00003", []byte("somebody's"))
	if _, err := Images(t.Context(), src, "mem://store/sets/b", o); err == nil || !strings.Contains(err.Error(), "mem://store/sets/b/pets-train.tfrecord-00001-of-00003 exists") {
		t.Errorf("a file of somebody else's: %v", err)
	}
	o.Depfile = filepath.Join(t.TempDir(), "dep")
	if _, err := Images(t.Context(), src, url, o); !ofOption(err) {
		t.Errorf("a depfile: %v", err)
	}
}

// TestEveryRequestMayBeTheLast kills a run at its first request to the store, then at its second,
// and so on. The next run makes of the remains what an undisturbed run makes, and leaves nothing
// behind.
func TestEveryRequestMayBeTheLast(t *testing.T) {
	src, changed := directories(t, 12), directories(t, 12)
	put(t, changed, "c1/004.png", pngOf(99))
	o := ImageOptions{Options: Options{Shards: 2, Workers: 1}}
	other := o
	other.Seed, other.Overwrite = 1, true
	t.Run("the first", func(t *testing.T) { dieEverywhere(t, 1, nil, func(out string) error { return made(src, out, o) }) })
	first := func(out string) error { return made(src, out, o) }
	t.Run("an update", func(t *testing.T) {
		dieEverywhere(t, 3, first, func(out string) error { return made(changed, out, o) })
	})
	t.Run("another in its place", func(t *testing.T) {
		dieEverywhere(t, 3, first, func(out string) error { return made(src, out, other) })
	})
}

func made(src, out string, o ImageOptions) error {
	_, err := Images(context.Background(), src, out, o)
	return err
}

// dieEverywhere kills a run at every step-th request. first makes what existed before, if anything.
func dieEverywhere(t *testing.T, step int, first, run func(out string) error) {
	begin := func(out string) map[string]string {
		if first == nil {
			return nil
		}
		if err := first(out); err != nil {
			t.Fatal(err)
		}
		if storage.Remote(out) {
			return nil
		}
		return contents(t, out)
	}
	local := t.TempDir()
	was := begin(local)
	if err := run(local); err != nil {
		t.Fatal(err)
	}
	want := contents(t, local)
	whole, url := emptyStore(t)
	begin(url)
	if err := run(url); err != nil {
		t.Fatal(err)
	}
	_, wantState := inDirectory(whole)

	dead := errors.New("dead")
	for last := 0; ; last += step {
		s, url := emptyStore(t)
		expireClaims(t, 4*time.Millisecond, 16*time.Millisecond) // alone
		begin(url)
		var mu sync.Mutex
		requests := 0
		s.Fault = func(kind, name string) error {
			mu.Lock()
			defer mu.Unlock()
			requests++
			if requests > last {
				return fmt.Errorf("%w%w", dead, errLasting)
			}
			return nil
		}
		err := run(url)
		s.Fault = nil
		if err == nil {
			if last < 20 {
				t.Fatalf("a run of %d requests", last)
			}
			return
		}
		if !errors.Is(err, dead) {
			t.Errorf("request %d failed, and the run says %v", last, err)
		}
		files, _ := inDirectory(s)
		for name, data := range files {
			if old, ok := was[name]; data != want[name] && !(ok && old == data) {
				t.Errorf("request %d failed, and left another %s", last, name)
			}
		}
		if m, ok := files[manifest.File]; ok { // then it describes all existing files
			all := want
			if m != want[manifest.File] {
				all = was
			}
			for name := range all {
				if strings.Contains(name, ".tfrecord-") && files[name] != all[name] {
					t.Errorf("request %d failed: there is a manifest, and another %s", last, name)
				}
			}
		}
		if err := run(url); err != nil {
			t.Fatalf("request %d failed, and then %v", last, err)
		}
		files, state := inDirectory(s)
		sameSet(t, files, want)
		if len(state) != len(wantState) {
			t.Errorf("request %d failed, and the state in the end is %q", last, state)
		}
		nothingOfRuns(t, s)
		if t.Failed() {
			return
		}
	}
}

// errLasting is an error that is never retried.
var errLasting = fmt.Errorf("%w", fs.ErrPermission)

// Lost or misleading answers of a store, such as "already exists" for its own write, do no harm.
func TestLostAnswers(t *testing.T) {
	src, local := directories(t, 12), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 2}}
	mustImages(t, src, local, o)
	want := contents(t, local)
	s, url := emptyStore(t)
	s.Lost = func(name string) error {
		if strings.Contains(name, ".tfrecord-") && !strings.Contains(name, "/"+shard.StateDir+"/") {
			return fs.ErrExist
		}
		return nil
	}
	mustImages(t, src, url, o)
	files, _ := inDirectory(s)
	sameSet(t, files, want)

	s, url = emptyStore(t)
	lost := map[string]bool{}
	var mu sync.Mutex
	s.Lost = func(name string) error {
		mu.Lock()
		defer mu.Unlock()
		if lost[name] || strings.Contains(name, "/claims/") {
			return nil
		}
		lost[name] = true
		return errors.New("the connection broke")
	}
	for tries := 0; ; tries++ {
		_, err := Images(t.Context(), src, url, o)
		if err == nil {
			break
		}
		if tries > 30 {
			t.Fatal(err)
		}
	}
	files, _ = inDirectory(s)
	sameSet(t, files, want)
	nothingOfRuns(t, s)
}

func TestArrayJobsInStores(t *testing.T) {
	src, local := directories(t, 60), t.TempDir()
	o := ImageOptions{Options: Options{Shards: 6, Workers: 1}}
	mustImages(t, src, local, o)
	s, url := emptyStore(t)
	const tasks = 3
	run := func(ctx context.Context, i int) error {
		_, err := Images(ctx, src, url, taskOf(o, i, tasks))
		return err
	}
	if err := run(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	var missing *MissingShardsError
	if _, err := Finalize(t.Context(), url, FinalizeOptions{}); !errors.As(err, &missing) || len(missing.Missing) != 4 {
		t.Errorf("finalize of one task in three: %v", err)
	}
	var wait sync.WaitGroup
	for i := range 2 * tasks {
		wait.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if i%3 == 0 {
				time.AfterFunc(time.Duration(i)*5*time.Millisecond, cancel)
			}
			if err := run(ctx, i%tasks); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for i := range tasks { // cancelled work is made by the next run
		if err := run(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	mustFinalize(t, url)
	files, _ := inDirectory(s)
	sameSet(t, files, contents(t, local))
	nothingOfRuns(t, s)
	if sum := mustFinalize(t, url); sum.Status != UpToDate {
		t.Errorf("finalized again: %s", sum.Status)
	}
}

// BenchmarkRequests reports the number of requests per shard, when made and when up to date.
func BenchmarkRequests(b *testing.B) {
	src := b.TempDir()
	for i := range 300 {
		path := filepath.Join(src, fmt.Sprintf("%03d.png", i))
		if err := os.WriteFile(path, pngOf(i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	o := ImageOptions{Labels: LabelSpec{None: true}, Options: Options{Shards: 100}}
	for b.Loop() {
		s := storagetest.New()
		storage.Register("mem", func(context.Context, string) (storage.Store, error) { return s, nil })
		for _, what := range []string{"written", "up_to_date"} {
			var mu sync.Mutex
			requests := 0
			s.Fault = func(string, string) error {
				mu.Lock()
				defer mu.Unlock()
				requests++
				return nil
			}
			if _, err := Images(context.Background(), src, "mem://store/set", o); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(requests)/100, what+"-requests/shard")
		}
	}
}
