package repair

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
)

// unreportedIn returns the unreported files below a directory.
func unreportedIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	for name := range settest.FilesOf(t, dir) {
		if strings.Contains(name, "unreported") {
			names = append(names, name)
		}
	}
	return names
}

// TestRepairReportsUntilDelivered repairs sets, directories and files in place, whose report is not
// delivered twice: the next run reports the same loss, and the one after it none. Nothing is left
// but what an undisturbed repair leaves.
func TestRepairReportsUntilDelivered(t *testing.T) {
	for _, kind := range []string{"set", "missing shard", "directory", "file"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			damagedSetAt(t, dir)
			shards, err := filepath.Glob(filepath.Join(dir, "*.tfrecord-*"))
			settest.Check(t, err)
			in, o := dir, Options{}
			switch kind {
			case "missing shard":
				settest.Check(t, os.Remove(shards[2]))
				o.Partial = true
			case "directory":
				settest.Check(t, os.Remove(filepath.Join(dir, manifest.File)))
			case "file":
				settest.Check(t, os.Remove(filepath.Join(dir, manifest.File)))
				in = shards[1]
			}
			whole := settest.CopyOf(t, dir)
			at := func(root string) string { return filepath.Join(root, strings.TrimPrefix(in, dir)) }
			want, err := InPlace(t.Context(), at(whole), o)
			settest.Check(t, err)
			if !want.Lost() {
				t.Fatalf("nothing was lost: %+v", want)
			}
			cut := errors.New("cut")
			for range 2 {
				undelivered := o
				undelivered.Deliver = func(*Report) error { return cut }
				if report, err := InPlace(t.Context(), in, undelivered); report != nil || !errors.Is(err, cut) {
					t.Fatalf("not delivered: %+v, %v", report, err)
				}
			}
			got, err := InPlace(t.Context(), in, o)
			settest.Check(t, err)
			if diff := cmp.Diff(inDir(want, whole), inDir(got, dir)); diff != "" {
				t.Errorf("the report is another:\n%s", diff)
			}
			if got, want := settest.FilesOf(t, dir), settest.FilesOf(t, whole); !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
				t.Errorf("it holds %v", slices.Sorted(maps.Keys(got)))
			}
			if got, err = InPlace(t.Context(), in, o); err != nil || got.Lost() {
				t.Errorf("delivered, and again: %+v, %v", got, err)
			}
		})
	}
}

// TestRepairForgetsOtherFiles puts another file where a repair that was not reported had replaced
// one: nothing of it was lost.
func TestRepairForgetsOtherFiles(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "a.tfrecord")
	data, frames := settest.Framed(10, 300, 77)
	settest.PutFile(t, in, settest.Overwrite("", data, frames, frames[1].Offset, frames[1].Offset+1, settest.Flipped).Data)
	cut := errors.New("cut")
	if _, err := InPlace(t.Context(), in, Options{Deliver: func(*Report) error { return cut }}); !errors.Is(err, cut) {
		t.Fatal(err)
	}
	if len(unreportedIn(t, dir)) != 1 {
		t.Fatalf("%v", unreportedIn(t, dir))
	}
	settest.PutFile(t, in, data)
	report, err := InPlace(t.Context(), in, Options{})
	settest.Check(t, err)
	if report.Lost() || report.Status != "clean" || len(unreportedIn(t, dir)) > 0 {
		t.Errorf("%+v, left %v", report, unreportedIn(t, dir))
	}
}
