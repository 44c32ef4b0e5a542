package filetree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// TestRootKeepsWritesInside replaces a directory by a link that leads outside
// while images are written: the system refuses to follow it.
func TestRootKeepsWritesInside(t *testing.T) {
	outside, temp := t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(temp)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Symlink(outside, filepath.Join(temp, "a")); err != nil {
		t.Skip(err)
	}
	f := Below(root, false, new(spec.Report))
	if err := f.Put("a/1.jpg", []byte("x")); err == nil {
		t.Error("written through a link")
	}
	exporttest.WantOnly(t, outside)
}
