package repair

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Whichever request is the last that an adoption in a store makes, the next one makes what it makes
// on a disk.
func TestAdoptInAStoreEndsAnywhere(t *testing.T) {
	bare := filepath.Join(t.TempDir(), "birds")
	settest.Check(t, os.Mkdir(bare, 0o755))
	for _, name := range []string{"a-train.tfrecord", "b-train.tfrecord", "c-val.tfrecord"} {
		settest.ExampleFile(t, filepath.Join(bare, name), 5, func(i int, b *tfrecord.Builder) { b.Int64("label", int64(i%2)) })
	}
	for _, rename := range []bool{false, true} {
		o := AdoptOptions{Labels: []string{"cat", "dog"}, Rename: rename, Workers: 1}
		local := filepath.Join(t.TempDir(), "birds")
		settest.Check(t, os.CopyFS(local, os.DirFS(bare)))
		first, err := Adopt(t.Context(), local, o)
		settest.Check(t, err)
		want := settest.FilesOf(t, local)
		maps.DeleteFunc(want, func(name, _ string) bool { return strings.HasPrefix(name, shard.StateDir) })
		for last := int64(1); ; last++ {
			store, url := settest.StoreOf(t)
			for name, data := range settest.FilesOf(t, bare) {
				store.Put("deep/birds/"+name, []byte(data))
			}
			var requests atomic.Int64
			store.Fault = func(kind, name string) error {
				if requests.Add(1) > last {
					return fs.ErrPermission
				}
				return nil
			}
			report, err := Adopt(t.Context(), url+"/deep/birds", o)
			store.Fault = nil
			done := err == nil
			if done && (report.Status != first.Status || len(report.Changes) != len(first.Changes)) {
				t.Errorf("%+v, want %+v", report, first)
			}
			if !done && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("request %d failed, and the adoption says %v", last, err)
			}
			for _, name := range store.Names() {
				if strings.Contains(name, "/claims/") { // of the dead: it expires, which others test
					settest.Check(t, store.Remove(t.Context(), name))
				}
			}
			if !done {
				if _, err = Adopt(t.Context(), url+"/deep/birds", o); err != nil {
					t.Fatalf("rename %v: after a fault at request %d: %v", rename, last, err)
				}
			}
			got := map[string]string{}
			for _, name := range store.Names() {
				got[strings.TrimPrefix(name, "deep/birds/")] = string(store.Get(name))
			}
			if !maps.Equal(got, want) {
				t.Fatalf("rename %v: after a fault at request %d: %q", rename, last, store.Names())
			}
			if requests.Load() <= last {
				if report, err := Adopt(t.Context(), url+"/deep/birds", o); err != nil || report.Status != "up_to_date" {
					t.Errorf("again: %+v, %v", report, err)
				}
				break
			}
		}
	}
}

// Indexes in a store are those on a disk; a damaged file gets none, and an existing one is kept.
func TestIndexInAStore(t *testing.T) {
	local := t.TempDir()
	store, url := settest.StoreOf(t)
	put := func(name string, damaged bool) {
		path := settest.ExampleFile(t, filepath.Join(local, name), 20, settest.Numbers)
		if damaged {
			settest.FlipIn(t, path, 100)
		}
		data, err := os.ReadFile(path)
		settest.Check(t, err)
		store.Put("in/"+name, data)
	}
	put("a.tfrecord", false)
	put("b.tfrecord", true)
	for _, o := range []IndexOptions{{Check: true}, {}, {}, {Force: true}, {Check: true}} {
		for i, dir := range []string{local, url + "/in"} {
			_, err := Index(t.Context(), []string{dir}, o)
			settest.Check(t, err)
			if i == 0 {
				continue
			}
			there := store.Get("in/" + manifest.IndexName("a.tfrecord"))
			here, err := os.ReadFile(manifest.IndexPath(filepath.Join(local, "a.tfrecord")))
			if err != nil && !errors.Is(err, fs.ErrNotExist) || string(here) != string(there) {
				t.Errorf("%+v: %q in the store, %q on the disk, %v", o, there, here, err)
			}
		}
	}
	if len(store.Get("in/"+manifest.IndexName("a.tfrecord"))) == 0 || len(store.Names()) != 3 || len(settest.Uploads(store)) > 0 {
		t.Errorf("%q, and uploads of %q", store.Names(), settest.Uploads(store))
	}
	// Another process may have made it in the meantime: it stays.
	settest.Check(t, store.Remove(t.Context(), "in/"+manifest.IndexName("a.tfrecord")))
	store.Fault = func(kind, name string) error {
		if kind == "commit" {
			store.Put(name, []byte("of another"))
		}
		return nil
	}
	report, err := Index(t.Context(), []string{url + "/in/a.tfrecord"}, IndexOptions{})
	if err != nil || report.Files[0].Status != IndexKept || string(store.Get("in/"+manifest.IndexName("a.tfrecord"))) != "of another" {
		t.Errorf("%+v, %v", report, err)
	}
}
