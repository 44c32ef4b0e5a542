package setdir_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/shard"
)

// recordsIn returns all records of a set.
func recordsIn(t *testing.T, dir string) (records []string) {
	t.Helper()
	sources, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{})
	settest.Check(t, err)
	for _, s := range sources {
		for _, r := range settest.RecordsOf(t, s.Path) {
			records = append(records, string(r))
		}
	}
	return records
}

// Stopped before any file operation, a set is the old one or, after the next reader, the new one.
func TestReplacementStoppedAnywhere(t *testing.T) {
	t.Parallel()
	set := settest.ThreeShards(t)
	old := settest.FilesOf(t, set)
	settest.StageNext(t, set)
	whole := settest.CopyOf(t, set)
	settest.Check(t, settest.ReplaceStaged(t.Context(), whole))
	want := settest.FilesOf(t, whole)
	if settest.SameFiles(old, want) {
		t.Fatal("nothing was replaced")
	}
	ends := map[bool]int{}
	settest.EachFault(t, func() string { return settest.CopyOf(t, set) }, settest.ReplaceStaged, func(dir, fail string, err error) {
		if fail == "" {
			settest.Check(t, err)
			return
		}
		decided := settest.Has(t, dir, setdir.JournalFile)
		recordsIn(t, dir) // completes a committed change
		got := settest.FilesOf(t, dir)
		if settest.Has(t, dir, setdir.JournalFile) || decided && !settest.SameFiles(got, want) || !decided && !settest.SameFiles(got, old) {
			t.Errorf("after %s failed, decided %v: it is neither the old set nor the new one", fail, decided)
		}
		ends[decided]++
	})
	if ends[false] == 0 || ends[true] == 0 {
		t.Errorf("faults before and after the decision: %v", ends)
	}
}

// While a running process replaces a set, others read the old one; without links to the old files,
// they wait until it is done.
func TestReadingBesideALivingWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, readBesideALivingWriter)
}

func readBesideALivingWriter(t *testing.T) {
	dir := settest.ThreeShards(t)
	old := recordsIn(t, dir)
	settest.StageNext(t, dir)
	waited := make(chan error, 1)
	var moves atomic.Int64
	ctx := inject.With(t.Context(), func(operation string) error {
		if operation != "rename" {
			return nil
		}
		if moves.Add(1) != 3 {
			return nil
		}
		// The writer is in the middle of the change and holds the lock.
		if got := recordsIn(t, dir); !slices.Equal(got, old) {
			t.Errorf("beside the writer: %q, want the old set %q", got, old)
		}
		sources, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{})
		settest.Check(t, err)
		if faults, err := sources[0].Set.Check(t.Context()); err != nil || len(faults) > 0 {
			t.Errorf("beside the writer: %v, %+v", err, faults)
		}
		settest.Check(t, os.RemoveAll(filepath.Join(dir, filepath.FromSlash(setdir.OldDir))))
		go func() {
			_, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{})
			waited <- err
		}()
		select {
		case err := <-waited:
			t.Errorf("without links to the old files it was not waited for: %v", err)
		case <-time.After(time.Second):
		}
		return nil
	})
	err := settest.ReplaceStaged(ctx, dir)
	read := <-waited
	settest.Check(t, err)
	settest.Check(t, read)
	if got := recordsIn(t, dir); moves.Load() < 3 || got[0] != "another record" || len(got) != len(old)-3 {
		t.Errorf("afterwards: %q", got)
	}
}

// Without write permission, a partly replaced set is refused, with the reason.
func TestHalfReplacedWhereNothingMayBeWritten(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := settest.ThreeShards(t)
	settest.StageNext(t, dir)
	ctx := inject.With(t.Context(), func(operation string) error {
		if operation == "rename" {
			return errors.New("stopped")
		}
		return nil
	})
	err := settest.ReplaceStaged(ctx, dir)
	if err == nil || !strings.Contains(err.Error(), "partly replaced") {
		t.Fatal(err)
	}
	settest.Check(t, os.Chmod(filepath.Join(dir, shard.StateDir), 0o555))
	defer os.Chmod(filepath.Join(dir, shard.StateDir), 0o755)
	if _, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{}); err == nil || !strings.Contains(err.Error(), "with write permission") {
		t.Errorf("%v", err)
	}
}
