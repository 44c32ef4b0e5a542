package repair

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// Staged files of an abandoned update are listed, with links to the old files, and removed on
// request; the set is unchanged.
func TestCleanRemovesWhatWasStaged(t *testing.T) {
	set := settest.ThreeShards(t)
	before := settest.FilesOf(t, set)
	settest.StageNext(t, set)
	for _, test := range []struct {
		name  string
		link  bool // to the old files
		kinds []string
	}{
		{"staged", false, []string{place.LeftStaged}},
		{"links to old files", true, []string{place.LeftStaged, place.LeftReplaced}},
	} {
		dir := settest.CopyOf(t, set)
		if test.link {
			d, err := setdir.Open(t.Context(), dir, setdir.Options{})
			settest.Check(t, err)
			m, err := d.Manifest()
			settest.Check(t, err)
			j := &setdir.Journal{Moves: []setdir.Move{{From: setdir.StageDir + "/" + manifest.File, To: manifest.File}}, Remove: []string{m.Splits[0].Shards[0].File}}
			settest.Check(t, setdir.Inside(d, func(root *os.Root) error { return setdir.LinkOld(root, j) }))
			settest.Check(t, d.Close())
		}
		busy, err := setdir.Open(t.Context(), dir, setdir.Options{})
		settest.Check(t, err)
		if _, err := Clean(t.Context(), dir, CleanOptions{Remove: true}); !errors.Is(err, shard.ErrBusy) {
			t.Errorf("%s: beside a living run: %v, want ErrBusy", test.name, err)
		}
		settest.Check(t, busy.Close())
		report, err := Clean(t.Context(), dir, CleanOptions{})
		settest.Check(t, err)
		seen := map[string]bool{}
		for _, l := range report.Left {
			st, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(l.Name)))
			settest.Check(t, err)
			want := st.Size()
			if l.Kind == place.LeftReplaced {
				want = 0 // the set still has the file
			}
			if l.Bytes != want {
				t.Errorf("%s: %s takes %d bytes, want %d", test.name, l.Name, l.Bytes, want)
			}
			seen[l.Kind] = true
		}
		if len(seen) != len(test.kinds) {
			t.Errorf("%s: %+v, want %q", test.name, report.Left, test.kinds)
		}
		for _, kind := range test.kinds {
			if !seen[kind] {
				t.Errorf("%s: nothing is %s", test.name, kind)
			}
		}
		report, err = Clean(t.Context(), dir, CleanOptions{Remove: true})
		settest.Check(t, err)
		if !report.Removed || settest.Has(t, dir, setdir.StageDir) || settest.Has(t, dir, setdir.OldDir) || !settest.SameFiles(settest.FilesOf(t, dir), before) {
			t.Errorf("%s: %+v, and there are %v", test.name, report, slices.Sorted(maps.Keys(settest.FilesOf(t, dir))))
		}
		report, err = Clean(t.Context(), dir, CleanOptions{})
		if err != nil || len(report.Left) > 0 {
			t.Errorf("%s: %v, %+v is left", test.name, err, report)
		}
	}
}

// While there is a journal, the staged files are needed: Clean completes the change or, if it
// cannot, fails and removes nothing.
func TestCleanCompletesAChange(t *testing.T) {
	t.Parallel()
	set := settest.ThreeShards(t)
	settest.StageNext(t, set)
	whole := settest.CopyOf(t, set)
	settest.Check(t, settest.ReplaceStaged(t.Context(), whole))
	want := settest.FilesOf(t, whole)

	ctx := inject.With(t.Context(), func(operation string) error {
		if operation == "rename" {
			return errors.New("stopped")
		}
		return nil
	})
	err := settest.ReplaceStaged(ctx, set)
	if err == nil || !settest.Has(t, set, setdir.JournalFile) {
		t.Fatalf("%v; the change was not stopped in the middle", err)
	}
	unusable := settest.CopyOf(t, set)
	settest.PutFile(t, filepath.Join(unusable, filepath.FromSlash(setdir.JournalFile)), []byte("{}"))
	before := settest.NamesIn(t, unusable)
	if _, err := Clean(t.Context(), unusable, CleanOptions{Remove: true}); err == nil || !strings.Contains(err.Error(), "journal") {
		t.Errorf("a journal that cannot be used: %v", err)
	}
	if after := settest.NamesIn(t, unusable); len(after) != len(before) || !settest.Has(t, unusable, setdir.StageDir) {
		t.Errorf("there was %q, and is %q", before, after)
	}
	report, err := Clean(t.Context(), set, CleanOptions{Remove: true})
	settest.Check(t, err)
	if len(report.Left) > 0 || !settest.SameFiles(settest.FilesOf(t, set), want) {
		t.Errorf("%+v is left; the set is %v", report, slices.Sorted(maps.Keys(settest.FilesOf(t, set))))
	}
}
