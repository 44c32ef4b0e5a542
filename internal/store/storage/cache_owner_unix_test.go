//go:build unix

package storage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCacheOfOthers refuses directories that others own or can write.
func TestCacheOfOthers(t *testing.T) {
	for _, mode := range []os.FileMode{0o700, 0o755, 0o775, 0o757, 0o777, 0o777 | os.ModeSticky} {
		dir := filepath.Join(t.TempDir(), "cache")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		c := &cache{dir: dir, limit: MinCacheSize, write: writeBlock}
		err := c.prepare()
		if open := mode&0o022 != 0; open != (err != nil) || open && !strings.Contains(err.Error(), "chmod go-w") {
			t.Errorf("%v: %v", mode, err)
		}
	}
	if os.Geteuid() != 0 {
		return // chown is for root
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, -1); err != nil {
		t.Fatal(err)
	}
	c := &cache{dir: dir, limit: MinCacheSize, write: writeBlock}
	if err := c.prepare(); err == nil || !strings.Contains(err.Error(), "belongs to the user 12345") {
		t.Error(err)
	}
}
