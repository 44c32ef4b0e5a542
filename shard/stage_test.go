package shard

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/setdir"
)

// recordsIn reads all records of a set.
func recordsIn(t *testing.T, dir string) (records []string) {
	t.Helper()
	sources, err := Expand(t.Context(), []string{dir}, ExpandOptions{})
	check(t, err)
	for _, s := range sources {
		for _, r := range recordsOf(t, s.Path) {
			records = append(records, string(r))
		}
	}
	return records
}

// Stopped before any operation on files, a set is the old one or, after whoever looks
// at it next, the new one.
func TestReplacementStoppedAnywhere(t *testing.T) {
	set := threeShards(t)
	old := filesOf(t, set)
	stageNext(t, set)
	whole := copyOf(t, set)
	check(t, replaceStaged(whole))
	want := filesOf(t, whole)
	if sameFiles(old, want) {
		t.Fatal("nothing was replaced")
	}
	ends := map[bool]int{}
	eachFault(t, func() string { return copyOf(t, set) }, replaceStaged, func(dir, fail string, err error) {
		if fail == "" {
			check(t, err)
			return
		}
		decided := has(t, dir, setdir.JournalFile)
		recordsIn(t, dir) // completes what was decided on
		got := filesOf(t, dir)
		if has(t, dir, setdir.JournalFile) || decided && !sameFiles(got, want) || !decided && !sameFiles(got, old) {
			t.Errorf("after %s failed, decided %v: it is neither the old set nor the new one", fail, decided)
		}
		ends[decided]++
	})
	if ends[false] == 0 || ends[true] == 0 {
		t.Errorf("faults before and after the decision: %v", ends)
	}
}

// While a living process replaces a set, others read the old one; where there are no
// links to the old files, they wait until it is done.
func TestReadingBesideALivingWriter(t *testing.T) {
	dir := threeShards(t)
	old := recordsIn(t, dir)
	stageNext(t, dir)
	waited := make(chan error, 1)
	var moves atomic.Int64
	inject.Hook = func(operation string) error {
		if operation != "rename" {
			return nil
		}
		if moves.Add(1) != 3 {
			return nil
		}
		// The writer is in the middle, and has its lock.
		if got := recordsIn(t, dir); !slices.Equal(got, old) {
			t.Errorf("beside the writer: %q, want the old set %q", got, old)
		}
		sources, err := Expand(t.Context(), []string{dir}, ExpandOptions{})
		check(t, err)
		if faults, err := sources[0].Set.Check(t.Context()); err != nil || len(faults) > 0 {
			t.Errorf("beside the writer: %v, %+v", err, faults)
		}
		check(t, os.RemoveAll(filepath.Join(dir, filepath.FromSlash(setdir.OldDir))))
		go func() {
			_, err := Expand(t.Context(), []string{dir}, ExpandOptions{})
			waited <- err
		}()
		select {
		case err := <-waited:
			t.Errorf("without links to the old files it was not waited for: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
		return nil
	}
	err := replaceStaged(dir)
	read := <-waited
	inject.Hook = nil
	check(t, err)
	check(t, read)
	if got := recordsIn(t, dir); moves.Load() < 3 || got[0] != "another record" || len(got) != len(old)-3 {
		t.Errorf("afterwards: %q", got)
	}
}

// Where nothing may be written, a set that is half replaced is refused, with a reason.
func TestHalfReplacedWhereNothingMayBeWritten(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := threeShards(t)
	stageNext(t, dir)
	inject.Hook = func(operation string) error {
		if operation == "rename" {
			return errors.New("stopped")
		}
		return nil
	}
	err := replaceStaged(dir)
	inject.Hook = nil
	if err == nil || !strings.Contains(err.Error(), "partly replaced") {
		t.Fatal(err)
	}
	check(t, os.Chmod(filepath.Join(dir, StateDir), 0o555))
	defer os.Chmod(filepath.Join(dir, StateDir), 0o755)
	if _, err := Expand(t.Context(), []string{dir}, ExpandOptions{}); err == nil || !strings.Contains(err.Error(), "with write permission") {
		t.Errorf("%v", err)
	}
}
