package setdir_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// State that cannot be read is an error, unlike missing state: a run that confused the two would
// forget a journal.
func TestUnreadableStateIsAnError(t *testing.T) {
	t.Parallel()
	inBothPlaces(t, func(t *testing.T, s site) {
		d := open(t, s)
		failing := setdir.View(inject.With(t.Context(), func(string) error { return syscall.EIO }), d.Path())
		settest.Check(t, d.State().PutRun(&setdir.Run{}))
		settest.Check(t, d.State().Put("x.json", 7))
		settest.Check(t, d.State().Put(filepath.Base(setdir.JournalFile), &setdir.Journal{}))
		var got int
		asks := map[string]func() error{
			"State":       func() error { _, err := failing.State().Read("x.json", &got); return err },
			"Run":         func() error { _, err := failing.State().Run(); return err },
			"readJournal": func() error { _, err := setdir.ReadJournal(failing); return err },
			"AllDone":     func() error { _, err := failing.Shards().AllDone(t.Context(), []string{"a"}, false, nil); return err },
		}
		for name, ask := range asks {
			if err := ask(); !errors.Is(err, syscall.EIO) {
				t.Errorf("%s of what cannot be read: %v, want EIO", name, err)
			}
		}
	})
}

// AllDone ends at the first state that cannot be read, or when its context is done.
func TestAllDoneEnds(t *testing.T) {
	t.Parallel()
	inBothPlaces(t, func(t *testing.T, s site) {
		d := open(t, s)
		files := make([]string, 200)
		for i := range files {
			files[i] = fmt.Sprintf("n-train.tfrecord-%05d-of-%05d", i, len(files))
			settest.Check(t, d.State().Put("shards/"+files[i]+".json", &setdir.Done{Shard: manifest.Shard{File: files[i]}}))
		}
		readable := rand.IntN(100)
		for want, end := range map[error]func(stop func()) error{
			syscall.EIO:      func(func()) error { return syscall.EIO },
			context.Canceled: func(stop func()) error { stop(); return nil },
		} {
			ctx, stop := context.WithCancel(t.Context())
			var reads atomic.Int64
			view := setdir.View(inject.With(t.Context(), func(operation string) error {
				if operation == "read" && reads.Add(1) > int64(readable) {
					return end(stop)
				}
				return nil
			}), d.Path())
			_, err := view.Shards().AllDone(ctx, files, false, nil)
			if !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
			const atOnce = 64
			if n := reads.Load(); n > int64(readable+atOnce) {
				t.Errorf("%v after %d states: %d were read", want, readable, n)
			}
			stop()
		}
	})
}

// A state file that is not a regular file of reasonable size counts as none: it is never read into
// memory or waited for.
func TestStateIsBounded(t *testing.T) {
	dir, err := setdir.Open(context.Background(), filepath.Join(t.TempDir(), "out"), setdir.Options{})
	settest.Check(t, err)
	defer dir.Close()
	settest.Check(t, dir.State().Put("x.json", 7))
	var got int
	if usable, err := dir.State().Read("x.json", &got); !usable || err != nil || got != 7 {
		t.Fatal(got, err)
	}
	path := dir.Join(shard.StateDir + "/x.json")
	settest.Check(t, os.Truncate(path, setdir.MaxState+1)) // sparse
	if usable, err := dir.State().Read("x.json", &got); usable || err != nil {
		t.Error("read", err)
	}
	settest.Check(t, os.Remove(path))
	settest.Check(t, os.Mkdir(path, 0o755))
	if usable, err := dir.State().Read("x.json", &got); usable || err != nil {
		t.Error("read a directory", err)
	}
}
