package filetree

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestWorkOfKilledRunsGoes checks that a run removes what a killed one left next to an output, and
// does not touch the directory of a running one.
func TestWorkOfKilledRunsGoes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders cannot be locked")
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out [x]*.csv")
	left, err := os.MkdirTemp(dir, tempPattern(out))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "table"), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	others := filepath.Join(dir, ".other.exporting-1")
	if err := os.Mkdir(others, 0o755); err != nil {
		t.Fatal(err)
	}
	first, done, err := WorkDirectory(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed run left is still there")
	}
	second, done2, err := WorkDirectory(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{first, second, others} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("it is gone, and was in use, or of another output: %v", err)
		}
	}
	done()
	done2()
	_, done, err = WorkDirectory(out)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if _, err := os.Stat(first); err == nil {
		t.Error("a folder that nobody works in is still there")
	}
}
