package command

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tfrec/tfrec/internal/command/cli"
)

// TestRemediesOfAFullDisk names TMPDIR only where it is tfrec that chose the place.
func TestRemediesOfAFullDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for path, want := range map[string]string{
		filepath.Join(os.TempDir(), "tfrec-pipe-1", "stdin"): "set TMPDIR",
		filepath.Join(os.TempDir(), "out", "manifest.json"):  "choose another directory",
		filepath.Join(t.TempDir(), "tfrec-out"):              "choose another directory",
		os.Stdout.Name():                                     "free space where stdout goes",
	} {
		err := fmt.Errorf("copy: %w", &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC})
		if got := cli.PathRemedy(newRootCommand(nil), err); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", path, got, want)
		}
	}
}

// TestRemedyOfOpenFiles: few open files are allowed, which is a matter of the shell.
func TestRemedyOfOpenFiles(t *testing.T) {
	err := fmt.Errorf("source: %w", &fs.PathError{Op: "open", Path: "a.jpg", Err: syscall.EMFILE})
	if got := cli.Remedy(nil, err); !strings.Contains(got, "ulimit -n") {
		t.Errorf("%v: %q", err, got)
	}
}
