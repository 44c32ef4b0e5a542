package rearrange

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// An unreadable state file of a finished run is an error; it must not count as missing.
func TestUnreadableFinishedRunIsAnError(t *testing.T) {
	t.Parallel()
	file, out := filepath.Join(t.TempDir(), "made.tfrecord"), filepath.Join(t.TempDir(), "set")
	settest.ExampleFile(t, file, 4, settest.Numbers)
	_, err := Make(t.Context(), []string{file}, out, &Options{}, &Verb{Name: "made"})
	settest.Check(t, err)
	if f, err := finishedOf(setdir.View(t.Context(), out)); f == nil || err != nil {
		t.Fatal(f, err)
	}
	failing := inject.With(t.Context(), func(string) error { return syscall.EIO })
	if _, err := finishedOf(setdir.View(failing, out)); !errors.Is(err, syscall.EIO) {
		t.Errorf("%v, want EIO", err)
	}
}
