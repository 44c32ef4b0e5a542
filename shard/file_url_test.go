package shard_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/shard"
)

// A set is read from a file:// URL as from the path in it, whole or refused; nothing is written to
// one.
func TestFileURLs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths have drives")
	}
	path := filepath.Join(t.TempDir(), "set")
	t.Chdir(t.TempDir())
	settest.WriteSet(t, path, 2, func(yield func([]byte)) { yield([]byte("x")) })
	sources, err := shard.Expand(t.Context(), []string{"file://" + path}, shard.ExpandOptions{})
	settest.Check(t, err)
	if len(sources) != 2 || sources[0].Info == nil || sources[0].Info.Records != 1 {
		t.Errorf("sources: %+v", sources)
	}
	if d, err := shard.OpenDir(t.Context(), "file://"+path, shard.DirOptions{}); err == nil || !strings.Contains(err.Error(), "without file://") {
		t.Errorf("a URL for what is written: %v, %v", d, err)
	}
	settest.Check(t, os.Remove(sources[1].Path))
	if _, err := shard.Expand(t.Context(), []string{"file://" + path}, shard.ExpandOptions{}); err == nil {
		t.Error("a set without one of its shards is taken for whole")
	}
	settest.Check(t, os.Remove(filepath.Join(path, "manifest.json")))
	settest.Check(t, os.MkdirAll(filepath.Join(path, shard.StateDir), 0o755))
	settest.Check(t, os.WriteFile(filepath.Join(path, shard.StateDir, "run.json"), []byte(`{"format":"tfrec.run","version":1,"files":["a-train.tfrecord-00000-of-00002","manifest.json"]}`), 0o644))
	plain, err1 := shard.Expand(t.Context(), []string{path}, shard.ExpandOptions{})
	url, err2 := shard.Expand(t.Context(), []string{"file://" + path}, shard.ExpandOptions{})
	if (err1 == nil) != (err2 == nil) || len(plain) != len(url) {
		t.Errorf("an unfinished set: %v with its path, %v with its URL", err1, err2)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("the working directory has %v, %v", entries, err)
	}
}
