package export

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// emptyStore is the store of mem://bucket until the test ends.
func emptyStore(t *testing.T) *storagetest.Store {
	t.Helper()
	s := storagetest.New()
	storage.Forget()
	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return s, nil })
	t.Cleanup(storage.Forget)
	return s
}

// stored are the files of an export in a store, as contents, without the state.
func stored(s *storagetest.Store, out string) map[string]string {
	files := map[string]string{}
	for _, name := range s.Names() {
		if !strings.Contains(name, "/"+place.StateDir+"/") {
			files[strings.TrimPrefix(name, out)] = string(s.Get(name))
		}
	}
	return files
}

// inputsOf has records for each format.
func inputsOf(t *testing.T) func(spec.Format) string {
	table, images, boxes := mixed(t), exporttest.WriteRecords(t, "images", exporttest.Photo("a/1.jpg", "a"), exporttest.Photo("a/2.jpg", "a"), exporttest.Photo("b/x/3.jpg", "b")), odd(t)
	return func(f spec.Format) string {
		switch {
		case f.HasBoxes():
			return boxes
		case f.HasImages():
			return images
		}
		return table
	}
}

// TestExportToStores exports to a store, with a fault at each request after which the process is
// as good as dead. The next run makes what it makes on a disk, whatever that left.
func TestExportToStores(t *testing.T) {
	in := inputsOf(t)
	for _, format := range spec.Formats {
		here := filepath.Join(t.TempDir(), "out")
		first, err := exportTo(t, here, spec.Options{Format: format}, in(format))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for path, data := range contents(t, filepath.Dir(here)) {
			want[filepath.ToSlash(strings.TrimPrefix(path, here))] = data
		}
		const out = "mem://bucket/deep/out"
		for last := int64(0); ; last++ {
			s := emptyStore(t)
			s.Put("deep/out-of-others", []byte("x"))
			var requests atomic.Int64
			s.Fault = func(kind, name string) error {
				if !strings.HasPrefix(name, "deep/out") {
					t.Errorf("%s: %s of %s", format, kind, name)
				}
				if requests.Add(1) > last {
					return fs.ErrPermission
				}
				return nil
			}
			_, err := exportTo(t, out, spec.Options{Format: format}, in(format))
			s.Fault = nil
			if err == nil {
				if last < 3 {
					t.Errorf("%s: an export of %d requests", format, last)
				}
				break
			}
			if !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: request %d fails, and the export says %v", format, last, err)
			}
			for _, name := range s.Names() {
				if strings.Contains(name, place.ClaimsDir) { // of the dead: it expires, which others test
					s.Remove(t.Context(), name)
				}
			}
			report, err := exportTo(t, out, spec.Options{Format: format}, in(format))
			if err != nil {
				t.Fatalf("%s: after a fault at request %d: %v", format, last, err)
			}
			if report.Records != first.Records || report.Files != first.Files || report.Bytes != first.Bytes {
				t.Errorf("%s: after a fault at request %d: %+v, want %+v", format, last, report, first)
			}
			got := stored(s, "deep/out")
			delete(got, "-of-others")
			if !maps.Equal(got, want) || len(s.Names()) != len(want)+1 {
				t.Fatalf("%s: after a fault at request %d: %q of %d files", format, last, s.Names(), len(want))
			}
		}
	}
}

// TestExportToAStoreAgain finds an export up to date, and refuses any other content without a
// change.
func TestExportToAStoreAgain(t *testing.T) {
	in := inputsOf(t)
	const out = "mem://bucket/out"
	for _, format := range spec.Formats {
		s := emptyStore(t)
		o := spec.Options{Format: format}
		if _, err := exportTo(t, out, o, in(format)); err != nil {
			t.Fatal(err)
		}
		if report, err := exportTo(t, out, o, in(format)); err != nil || report.Status != spec.UpToDate {
			t.Errorf("%s: again: %+v, %v", format, report, err)
		}
		whole := stored(s, "")
		for name, data := range whole {
			s.Put(name, []byte(data+"x"))
			before := stored(s, "")
			if _, err := exportTo(t, out, o, in(format)); err == nil || !strings.Contains(err.Error(), "exists and is not what this run would write") {
				t.Errorf("%s: another %s: %v", format, name, err)
			}
			if !maps.Equal(before, stored(s, "")) {
				t.Errorf("%s: refused, and it changed files", format)
			}
			s.Put(name, []byte(data))
		}
		s.Put("out/other", []byte("mine"))
		if _, err := exportTo(t, out, o, in(format)); format.HasImages() && err == nil {
			t.Errorf("%s: a file more: %v", format, err)
		}
	}
}

// TestUnfinishedExportOfOthersIsKept refuses to put an export among the files of another one that
// was killed, and removes none of them.
func TestUnfinishedExportOfOthersIsKept(t *testing.T) {
	s := emptyStore(t)
	s.Put("out/"+"a/9.jpg", []byte("of another"))
	s.Put("out/"+setdir.ExportFile, []byte(`{"id":"x"}`))
	before := stored(s, "")
	in := inputsOf(t)(spec.Directories)
	_, err := exportTo(t, "mem://bucket/out", spec.Options{Format: spec.Directories}, in)
	if err == nil || !strings.Contains(err.Error(), "exists and is not what this run would write") {
		t.Error(err)
	}
	if !maps.Equal(before, stored(s, "")) {
		t.Errorf("refused, and it left %q", s.Names())
	}
}

// TestInterruptedExportToAStore removes what it wrote, and a run that was suspended while another
// one completed the export removes nothing.
func TestInterruptedExportToAStore(t *testing.T) {
	in := inputsOf(t)(spec.Directories)
	export := func(ctx context.Context) error {
		_, err := Export(ctx, []string{in}, "mem://bucket/out", spec.Options{Format: spec.Directories})
		return err
	}
	for _, suspended := range []bool{false, true} {
		s := emptyStore(t)
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		var commits atomic.Int32
		s.Fault = func(kind, name string) error {
			if kind != "commit" || strings.Contains(name, place.StateDir) || commits.Add(1) != 2 {
				return nil
			}
			if suspended {
				for _, name := range s.Names() {
					if strings.Contains(name, place.ClaimsDir) {
						s.Remove(t.Context(), name)
					}
				}
				if err := export(t.Context()); err != nil {
					t.Error(err)
				}
			}
			interrupt()
			return nil
		}
		err := export(ctx)
		s.Fault = nil
		left := stored(s, "")
		if want := map[bool]int{true: 3}[suspended]; err == nil || len(left) != want {
			t.Errorf("suspended %v: %v, and %d files are left, want %d: %q", suspended, err, len(left), want, s.Names())
		}
		if err := export(t.Context()); err != nil || len(stored(s, "")) != 3 {
			t.Errorf("suspended %v: again: %v, %q", suspended, err, s.Names())
		}
	}
}
