package shard

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// State that is no file of a reasonable size is none: it is never read into
// memory, nor waited for.
func TestStateIsBounded(t *testing.T) {
	dir, err := OpenDir(context.Background(), filepath.Join(t.TempDir(), "out"), DirOptions{})
	check(t, err)
	defer dir.Close()
	check(t, dir.PutState("x.json", 7))
	var got int
	if !dir.State("x.json", &got) || got != 7 {
		t.Fatal(got)
	}
	path := dir.join(StateDir + "/x.json")
	check(t, os.Truncate(path, maxState+1)) // of holes
	if dir.State("x.json", &got) {
		t.Error("read")
	}
	check(t, os.Remove(path))
	check(t, os.Mkdir(path, 0o755))
	if dir.State("x.json", &got) {
		t.Error("read a folder")
	}
}
