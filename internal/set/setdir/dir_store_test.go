package setdir_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/claim"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/repair"
)

const oneShard = "a-train.tfrecord-00000-of-00001"

func openStored(t *testing.T, url string, o setdir.Options) *setdir.Dir {
	t.Helper()
	d, err := setdir.Open(t.Context(), url, o)
	settest.Check(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// begin writes a shard without committing it.
func begin(t *testing.T, d *setdir.Dir, records ...string) *setdir.Writer {
	t.Helper()
	w, err := d.Create(oneShard, setdir.WriterOptions{})
	settest.Check(t, err)
	t.Cleanup(w.Abort)
	for _, r := range records {
		settest.Check(t, w.WriteRecord([]byte(r)))
	}
	return w
}

// Two writers write the same shard despite all claims. If the content is the same, both succeed;
// otherwise the second gets an error and the first one's shard stays.
func TestWritersRace(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second []string
		old           bool // both replace an existing shard
		fails         bool
	}{
		{"the same", []string{"x", "y"}, []string{"x", "y"}, false, false},
		{"other bytes", []string{"x", "y"}, []string{"x", "z"}, false, true},
		{"another size", []string{"x", "y"}, []string{"x"}, false, true},
		{"the same over an old one", []string{"x", "y"}, []string{"x", "y"}, true, true},
		{"other bytes over an old one", []string{"x", "y"}, []string{"z"}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, url := settest.StoreOf(t)
			d := openStored(t, url, setdir.Options{Join: true})
			if c.old {
				write(t, d, oneShard, setdir.WriterOptions{}, "old")
			}
			first, second := begin(t, d, c.first...), begin(t, openStored(t, url, setdir.Options{Join: true}), c.second...)
			info, err := first.Commit()
			settest.Check(t, err)
			_, err = second.Commit()
			if c.fails != (err != nil) || err != nil && (!errors.Is(err, place.ErrOtherWriter) || !strings.Contains(err.Error(), url)) {
				t.Errorf("the second: %v", err)
			}
			if !d.Shards().HasContent(info) || !d.Shards().HasIndex(oneShard) {
				t.Error("the first one's shard or index is another now")
			}
			if left := settest.Uploads(store); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// A process that lost its claim publishes nothing more.
func TestNothingIsPublishedWithoutAClaim(t *testing.T) {
	synctest.Test(t, testNothingIsPublishedWithoutAClaim)
}

func testNothingIsPublishedWithoutAClaim(t *testing.T) {
	store, url := settest.StoreOf(t)
	d := openStored(t, url, setdir.Options{})
	w := begin(t, d, "x")
	for _, name := range store.Names() {
		if strings.HasPrefix(name, place.ClaimsDir) {
			settest.Check(t, store.Remove(t.Context(), name))
		}
	}
	time.Sleep(claim.Expire / 2) // from then on, each of these looks itself
	if _, err := w.Commit(); !errors.Is(err, claim.ErrLost) {
		t.Errorf("commit: %v", err)
	}
	if err := d.Put(manifest.File, []byte("{}")); !errors.Is(err, claim.ErrLost) {
		t.Errorf("put: %v", err)
	}
	if err := d.Remove(manifest.File); !errors.Is(err, claim.ErrLost) {
		t.Errorf("remove: %v", err)
	}
	d.Close()
	if names := store.Names(); len(names) > 0 {
		t.Errorf("there is %q", names)
	}
}

// A process that lost its lock in WithLock publishes nothing under it, although it still holds the
// directory.
func TestNothingIsPublishedOutOfTurn(t *testing.T) { synctest.Test(t, testNothingIsPublishedOutOfTurn) }

func testNothingIsPublishedOutOfTurn(t *testing.T) {
	store, url := settest.StoreOf(t)
	d := openStored(t, url, setdir.Options{Join: true})
	err := d.WithLock(t.Context(), "plan", func() error {
		for _, name := range store.Names() {
			if strings.HasPrefix(name, place.TogetherDir) {
				settest.Check(t, store.Remove(t.Context(), name))
			}
		}
		time.Sleep(claim.Expire / 2)
		return d.Put(shard.StateDir+"/plan.json", []byte("{}"))
	})
	if !errors.Is(err, claim.ErrLost) {
		t.Errorf("put: %v", err)
	}
	if err := d.Put(shard.StateDir+"/plan.json", []byte("{}")); err != nil {
		t.Errorf("put behind it: %v", err)
	}
}

// killed makes a store refuse all requests, as if the process had died, and returns a function that
// ends this for other processes.
func killed(store *storagetest.Store) (others func()) {
	store.Fault = func(string, string) error { return fs.ErrPermission }
	return func() { store.Fault = nil }
}

func TestCleanTellsAndRemoves(t *testing.T) { synctest.Test(t, testCleanTellsAndRemoves) }

func testCleanTellsAndRemoves(t *testing.T) {
	store, url := settest.StoreOf(t)
	url += "/set"
	store.Put("set/foreign", []byte("x"))
	theirs, err := store.Create(t.Context(), "set/foreign-upload", storage.CreateOptions{})
	settest.Check(t, err)
	defer theirs.Abort()

	d, err := setdir.Open(t.Context(), url, setdir.Options{})
	settest.Check(t, err)
	settest.Check(t, d.State().PutRun(&setdir.Run{Files: []string{oneShard, manifest.IndexName(oneShard)}}))
	w := begin(t, d, "x")
	if _, err := repair.Clean(t.Context(), url, repair.CleanOptions{}); !errors.Is(err, shard.ErrBusy) {
		t.Errorf("beside a living run: %v, want ErrBusy", err)
	}
	others := killed(store)
	w.Abort()
	d.Close()
	others()

	kinds := func(r *repair.CleanReport) (kinds []string) {
		for _, l := range r.Left {
			kinds = append(kinds, l.Kind)
		}
		slices.Sort(kinds)
		return slices.Compact(kinds)
	}
	report, err := repair.Clean(t.Context(), url, repair.CleanOptions{})
	settest.Check(t, err)
	if got := kinds(report); !slices.Equal(got, []string{place.LeftClaim, place.LeftUpload}) || report.Removed || len(settest.Uploads(store)) != 3 {
		t.Errorf("found %+v, and there is %q", report, settest.Uploads(store))
	}
	if report, err = repair.Clean(t.Context(), url, repair.CleanOptions{Remove: true}); err != nil || len(report.Left) != 2 || !report.Removed {
		t.Errorf("removing: %+v, %v", report, err)
	}
	if report, err = repair.Clean(t.Context(), url, repair.CleanOptions{Remove: true}); err != nil || len(report.Left) > 0 || report.Removed {
		t.Errorf("again: %+v, %v", report, err)
	}
	if left := settest.Uploads(store); !slices.Equal(left, []string{"set/foreign-upload"}) {
		t.Errorf("uploads that are left: %q", left)
	}
	if names := store.Names(); !slices.Equal(names, []string{"set/" + setdir.RunFile, "set/foreign"}) {
		t.Errorf("objects that are left: %q", names)
	}
}

func TestCleanOnTheDisk(t *testing.T) {
	out := t.TempDir()
	d, err := setdir.Open(t.Context(), out, setdir.Options{})
	settest.Check(t, err)
	begin(t, d, "x")
	if _, err := repair.Clean(t.Context(), out, repair.CleanOptions{}); !errors.Is(err, shard.ErrBusy) {
		t.Errorf("beside a living run: %v, want ErrBusy", err)
	}
	d.Close()
	before := settest.NamesIn(t, out)
	report, err := repair.Clean(t.Context(), out, repair.CleanOptions{})
	settest.Check(t, err)
	if len(report.Left) != 2 || report.Left[0].Kind != place.LeftTemporary || !slices.Equal(settest.NamesIn(t, out), before) {
		t.Errorf("found %+v", report)
	}
	report, err = repair.Clean(t.Context(), out, repair.CleanOptions{Remove: true})
	settest.Check(t, err)
	if left := settest.NamesIn(t, out); !report.Removed || !slices.Equal(left, []string{shard.StateDir, place.LockFile}) {
		t.Errorf("%+v, and there is %v", report, left)
	}
	if _, err := repair.Clean(t.Context(), out+"/nowhere", repair.CleanOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no folder: %v", err)
	}
}

// Temporary files are local, and removed.
func TestScratchOfAStore(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	_, url := settest.StoreOf(t)
	d := openStored(t, url, setdir.Options{})
	f, err := d.TempFile("work")
	settest.Check(t, err)
	if _, err := f.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	f.Close()
	d.Close()
	if left := settest.NamesIn(t, temp); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// Stores retry removals themselves: another layer of retries would take minutes and hide the
// store's error.
func TestRemovalsAreNotRepeated(t *testing.T) {
	store, url := settest.StoreOf(t)
	d := openStored(t, url, setdir.Options{})
	asked, gone := 0, errors.New("given up after 12 tries")
	store.Fault = func(kind, _ string) error {
		if kind != "remove" {
			return nil
		}
		if asked++; asked == 1 {
			return gone
		}
		return nil
	}
	if err := d.Remove(oneShard); !errors.Is(err, gone) || asked != 1 {
		t.Errorf("%d requests, %v", asked, err)
	}
}
