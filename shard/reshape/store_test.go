package reshape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
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
	"github.com/tfrec/tfrec/shard/internal/transfer"
	"github.com/tfrec/tfrec/shard/repair"
	"github.com/tfrec/tfrec/tfrecord"
)

// setHere returns the files of a set in a local directory, setThere those of a set in an object
// store, without state.
func setHere(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	settest.Check(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if err == nil && e.Name() == shard.StateDir {
				err = filepath.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = string(data)
		return err
	}))
	return found
}

func setThere(store *storagetest.Store, dir string) map[string]string {
	found := map[string]string{}
	for _, name := range store.Names() {
		if rel, ok := strings.CutPrefix(name, dir+"/"); ok && !strings.Contains("/"+rel, "/"+shard.StateDir+"/") {
			found[rel] = string(store.Get(name))
		}
	}
	return found
}

// reshapesIntoStores are ways to make a set that write files in different ways.
var reshapesIntoStores = map[string]func(t *testing.T, in, out string) (*Report, error){
	"shuffled": func(t *testing.T, in, out string) (*Report, error) {
		return Reshard(t.Context(), []string{in}, out, ReshardOptions{Shuffle: true, Options: Options{Name: "x", Shards: 2, Workers: 1}})
	},
	"copied": func(t *testing.T, in, out string) (*Report, error) {
		return Reshard(t.Context(), []string{in}, out, ReshardOptions{Options: Options{Name: "x", Shards: 3, Workers: 1}})
	},
	"grouped": func(t *testing.T, in, out string) (*Report, error) {
		return Reshard(t.Context(), []string{in}, out, ReshardOptions{GroupBy: "kind", Options: Options{Name: "x", Shards: 1, Workers: 1}})
	},
}

// Whichever request is the last that a process makes, there is no manifest before the set is
// complete, and repeating the run gives the same set as on disk.
func TestReshapeIntoAStoreEndsAnywhere(t *testing.T) {
	in := madeSet(t, 300, 2, nil, func(i int, b *tfrecord.Builder) {
		settest.Numbers(i, b)
		b.Bytes("kind", []byte{"ab"[i%2]})
	})
	for name, run := range reshapesIntoStores {
		t.Run(name, func(t *testing.T) {
			local := filepath.Join(t.TempDir(), "out")
			_, err := run(t, in, local)
			settest.Check(t, err)
			want := setHere(t, local)
			for last := int64(1); ; last++ {
				store, url := settest.StoreOf(t)
				var requests atomic.Int64
				store.Fault = func(kind, name string) error {
					if requests.Add(1) > last {
						return fmt.Errorf("the process died: %w", fs.ErrPermission)
					}
					return nil
				}
				_, err := run(t, in, url+"/out")
				store.Fault = nil
				if err == nil {
					if last < 20 {
						t.Fatalf("a run of %d requests", last)
					}
					if left := setThere(store, "out"); !maps.Equal(left, want) {
						t.Errorf("%d files, want %d, or they are others", len(left), len(want))
					}
					report, err := run(t, in, url+"/out")
					if settest.Check(t, err); report.Status != rearrange.UpToDate {
						t.Errorf("the same again: %s", report.Status)
					}
					return
				}
				if !errors.Is(err, fs.ErrPermission) {
					t.Errorf("request %d failed, and the run says %v", last, err)
				}
				left := setThere(store, "out")
				for name, data := range left {
					if data != want[name] {
						t.Errorf("request %d failed, and left another %s", last, name)
					}
				}
				if left[manifest.File] != "" && !maps.Equal(left, want) {
					t.Errorf("request %d failed: there is a manifest, and %d of %d files", last, len(left), len(want))
				}
				for _, name := range store.Names() {
					if strings.Contains(name, place.ClaimsDir+"/") { // of the dead: it expires, which others test
						settest.Check(t, store.Remove(t.Context(), name))
					}
				}
				_, err = run(t, in, url+"/out")
				settest.Check(t, err)
				if left := setThere(store, "out"); !maps.Equal(left, want) || len(settest.Uploads(store)) > 0 {
					t.Errorf("again, behind request %d: %d files, want %d, or they are others; uploads left: %q", last, len(left), len(want), settest.Uploads(store))
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// Requests that a store carries out late, after the run that abandoned them has failed, do not
// affect later runs; nor does what that run left behind.
func TestReshapeBehindOneThatFailed(t *testing.T) {
	in := madeSet(t, 100, 2, nil, settest.Numbers)
	o := Options{Name: "x", Shards: 3, Workers: 1}
	for name, verb := range map[string]func(out string) error{
		"the same": func(out string) error {
			_, err := Reshard(t.Context(), []string{in}, out, ReshardOptions{Options: o})
			return err
		},
		"another": func(out string) error { _, err := Merge(t.Context(), []string{in}, out, o); return err },
	} {
		store, url := settest.StoreOf(t)
		full := errors.New("no room")
		store.Fault = func(kind, name string) error {
			if kind == "commit" && strings.HasSuffix(name, "-00001-of-00003") {
				return full
			}
			return nil
		}
		_, err := Reshard(t.Context(), []string{in}, url+"/out", ReshardOptions{Options: o})
		store.Fault = nil
		if left := setThere(store, "out"); !errors.Is(err, full) || len(left) > 0 {
			t.Errorf("a run that fails: %v, and leaves %d files", err, len(left))
		}
		if name == "the same" {
			store.Put("out/index/x-train.tfrecord-00001-of-00003.idx", []byte("late"))
		}
		settest.Check(t, verb(url+"/out"))
		local := filepath.Join(t.TempDir(), "out")
		settest.Check(t, verb(local))
		if !maps.Equal(setHere(t, local), setThere(store, "out")) {
			t.Errorf("%s: the set is another one", name)
		}
		for _, name := range store.Names() {
			if name == "out/"+setdir.RunFile || strings.Contains(name, place.ClaimsDir) {
				t.Errorf("%s is left", name)
			}
		}
	}
}

// A run that is suspended so long that another one does its work, and that is interrupted after it
// resumes, leaves the other run's files alone.
func TestInterruptedReshapeLeavesAnothersSet(t *testing.T) {
	in := madeSet(t, 300, 2, nil, settest.Numbers)
	store, url := settest.StoreOf(t)
	o := ReshardOptions{Options: Options{Name: "x", Shards: 2, Workers: 1}}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var want map[string]string
	stopped := false
	store.Fault = func(kind, name string) error {
		if stopped || kind != "create" || name != "out/features.json" {
			return nil
		}
		stopped = true
		for _, name := range store.Names() {
			if strings.Contains(name, place.ClaimsDir+"/") { // it has expired
				settest.Check(t, store.Remove(t.Context(), name))
			}
		}
		_, err := Reshard(t.Context(), []string{in}, url+"/out", o)
		settest.Check(t, err)
		want = setThere(store, "out")
		interrupt()
		return nil
	}
	_, err := Reshard(ctx, []string{in}, url+"/out", o)
	store.Fault = nil
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the run that was interrupted says %v", err)
	}
	if left := setThere(store, "out"); len(want) == 0 || !maps.Equal(left, want) {
		t.Errorf("%d files, want %d, or they are others", len(left), len(want))
	}
}

// A directory in a store that is not empty is refused and left unchanged.
func TestReshapeRefusesDirectoriesOfStores(t *testing.T) {
	in := madeSet(t, 100, 2, nil, settest.Numbers)
	store, url := settest.StoreOf(t)
	store.Put("out/notes/mine", []byte("x"))
	store.Put("outside", []byte("x"))
	o := Options{Name: "x", Shards: 2}
	if _, err := Merge(t.Context(), []string{in}, url+"/out", o); err == nil || !strings.Contains(err.Error(), "holds notes") {
		t.Errorf("a folder with something in it: %v", err)
	}
	_, err := Merge(t.Context(), []string{in}, url+"/new", o)
	settest.Check(t, err)
	before := store.Names()
	o.Overwrite = true
	if _, err := Merge(t.Context(), []string{in}, url+"/new", o); err == nil || !strings.Contains(err.Error(), "cannot be replaced in one step") {
		t.Errorf("overwriting: %v", err)
	}
	o.Overwrite = false
	for out, want := range map[string]string{"/new": "is the input", "/new/deeper": "is inside the input", "": "contains the input"} {
		if _, err := Merge(t.Context(), []string{url + "/new"}, url+out, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("into %q: %v, want %q", out, err, want)
		}
	}
	for name, refused := range map[string]error{
		"repair": func() error {
			_, err := repair.Copy(t.Context(), in, url+"/other", repair.Options{})
			return err
		}(),
		"in place": func() error {
			_, err := repair.InPlace(t.Context(), url+"/new", repair.Options{})
			return err
		}(),
	} {
		if refused == nil || !strings.Contains(refused.Error(), "repair writes to local directories only") {
			t.Errorf("%s: %v", name, refused)
		}
	}
	if after := store.Names(); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("there was %q, and is %q", before, after)
	}
}

// Large records in a store are streamed rather than read with one or two requests each, and give
// the same set, shuffled and sorted.
func TestNewOrderOfAStoreStreams(t *testing.T) {
	const records = 200
	in := madeSet(t, records, 2, nil, func(i int, b *tfrecord.Builder) {
		settest.Numbers(i, b)
		b.Int64("key", int64(i*7%20))
		b.Bytes("blob", bytes.Repeat([]byte{byte(i)}, transfer.LeastFetched))
	})
	store, url := settest.StoreOf(t)
	for name, data := range setHere(t, in) {
		store.Put("in/"+name, []byte(data))
	}
	var opens atomic.Int64
	store.Fault = func(kind, _ string) error {
		if kind == "open" {
			opens.Add(1)
		}
		return nil
	}
	for _, o := range []ReshardOptions{{Shuffle: true}, {SortBy: "key"}} {
		o.Options = Options{Name: "x", Shards: 2, Memory: 2e6}
		local, out := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
		_, err := Reshard(t.Context(), []string{in}, local, o)
		settest.Check(t, err)
		opens.Store(0)
		_, err = Reshard(t.Context(), []string{url + "/in"}, out, o)
		settest.Check(t, err)
		if !maps.Equal(setHere(t, out), setHere(t, local)) {
			t.Errorf("%+v: the set is another one", o)
		}
		if n := opens.Load(); n > records/4 {
			t.Errorf("%+v: %d requests for %d records", o, n, records)
		}
	}
}
