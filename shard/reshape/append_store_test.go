package reshape

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
)

// withSet returns a store with the files of a local set below set/.
func withSet(t *testing.T, dir string) (store *storagetest.Store, url string) {
	t.Helper()
	store, url = settest.StoreOf(t)
	for name, data := range setHere(t, dir) {
		store.Put("set/"+name, []byte(data))
	}
	return store, url + "/set"
}

// Whichever request is the last that an append makes, the manifest is that of the old set or of the
// new one, all of whose files are there; and the next append makes the same set as on disk.
func TestAppendToAStoreEndsAnywhere(t *testing.T) {
	set := madeSet(t, 40, 2, []string{"cat", "dog"}, from(0))
	more := madeSet(t, 10, 1, []string{"dog", "eel"}, from(100))
	o := AppendOptions{Options: Options{Workers: 1}, NewLabels: true}
	old := setHere(t, set)
	local := settest.CopyOf(t, set)
	_, err := Append(t.Context(), local, []string{more}, o)
	settest.Check(t, err)
	want := setHere(t, local)
	states := map[bool]int{}
	for last := int64(1); ; last++ {
		store, url := withSet(t, set)
		var requests atomic.Int64
		store.Fault = func(kind, name string) error {
			if requests.Add(1) > last {
				return fmt.Errorf("the process died: %w", fs.ErrPermission)
			}
			return nil
		}
		_, err := Append(t.Context(), url, []string{more}, o)
		store.Fault = nil
		if err == nil {
			if got := setThere(store, "set"); !maps.Equal(got, want) {
				t.Errorf("appended undisturbed: %d files, want %d, or they are others", len(got), len(want))
			}
			if report, err := Append(t.Context(), url, []string{more}, o); err != nil || report.Status != rearrange.UpToDate {
				t.Errorf("the same again: %+v, %v", report, err)
			}
			break
		}
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("request %d failed, and the append says %v", last, err)
		}
		left := setThere(store, "set")
		is := old
		if left[manifest.File] != old[manifest.File] {
			is = want
		}
		states[left[manifest.File] == old[manifest.File]]++
		for name, data := range is {
			if !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".txt") && left[name] != data || left[manifest.File] != is[manifest.File] {
				t.Errorf("request %d failed: %s is not that of the manifest's set", last, name)
			}
		}
		removeClaims(t, store)
		if _, err := Append(t.Context(), url, []string{more}, o); err != nil {
			t.Fatalf("after a fault at request %d: %v", last, err)
		}
		if got := setThere(store, "set"); !maps.Equal(got, want) || len(settest.Uploads(store)) > 0 {
			t.Fatalf("after a fault at request %d: %d files, want %d, or they are others; uploads left: %q", last, len(got), len(want), settest.Uploads(store))
		}
		for _, name := range store.Names() {
			if strings.Contains(name, shard.StateDir+"/") {
				t.Errorf("after a fault at request %d, %s is left", last, name)
			}
		}
		if t.Failed() {
			return
		}
	}
	if states[true] < 10 || states[false] < 3 {
		t.Errorf("%d faults before and %d after the manifest was replaced", states[true], states[false])
	}
}

// removeClaims removes those of dead processes, which expire. Others test that.
func removeClaims(t *testing.T, store *storagetest.Store) {
	t.Helper()
	for _, name := range store.Names() {
		if strings.Contains(name, place.ClaimsDir+"/") {
			settest.Check(t, store.Remove(t.Context(), name))
		}
	}
}

// An append that was interrupted after it was committed is completed by the next writer of the
// directory; the tasks of an array job, which share it, refuse.
func TestInterruptedAppendToAStoreIsCompleted(t *testing.T) {
	set, more := madeSet(t, 40, 2, nil, from(0)), madeSet(t, 10, 1, nil, from(100))
	local := settest.CopyOf(t, set)
	_, err := Append(t.Context(), local, []string{more}, AppendOptions{})
	settest.Check(t, err)
	store, url := withSet(t, set)
	var dead atomic.Bool
	store.Fault = func(kind, name string) error {
		if kind == "commit" && strings.HasSuffix(name, "-of-00003") {
			dead.Store(true)
		}
		if dead.Load() {
			return fs.ErrPermission
		}
		return nil
	}
	if _, err := Append(t.Context(), url, []string{more}, AppendOptions{}); !errors.Is(err, fs.ErrPermission) {
		t.Fatal(err)
	}
	store.Fault = nil
	removeClaims(t, store)
	if got := setThere(store, "set"); got[manifest.File] != setHere(t, set)[manifest.File] {
		t.Error("the manifest is another one")
	}
	_, err = setdir.Open(t.Context(), url, setdir.Options{Join: true})
	if err == nil || !strings.Contains(err.Error(), "reshape.Append") {
		t.Errorf("shared: %v", err)
	}
	d, err := setdir.Open(t.Context(), url, setdir.Options{})
	settest.Check(t, err)
	settest.Check(t, d.Close())
	if !maps.Equal(setThere(store, "set"), setHere(t, filepath.Clean(local))) {
		t.Errorf("completed: %q", store.Names())
	}
}
