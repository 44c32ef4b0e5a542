//go:build unix

package peers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bench runs peers.py on a directory of photographs and returns what it printed.
// In place of tfrec is a script that prints the files of its source directory.
func bench(t *testing.T, photos string, work ...string) (string, error) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	for _, file := range []string{"peers.py", "inputs.py"} { // go test runs again when they change
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
	}
	tfrec := filepath.Join(t.TempDir(), "tfrec")
	if err := os.WriteFile(tfrec, []byte("#!/bin/sh\nsort -u \"$3\"/c*/?.jpg >&2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, append([]string{"-B", "peers.py", tfrec, photos}, work...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestPhotosOfAnyJPEGName(t *testing.T) {
	photos := t.TempDir()
	names := []string{"a/x.JPEG", "a/y.jpeg", "b/x.jpg", "b/y.JPG", "b/z.Jpe", "b/w.jfif", "train/a/x.JPEG", "x.JPEG"}
	for _, name := range names {
		file := filepath.Join(photos, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("contents of "+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := bench(t, photos, "workers")
	if err != nil || !strings.Contains(out, "times as many") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range names {
		if !strings.Contains(out, "contents of "+name+"\n") {
			t.Errorf("%s is not used", name)
		}
	}
}

func TestNoPhotos(t *testing.T) {
	photos := t.TempDir()
	for _, name := range []string{"labels.csv", "._x.jpg"} {
		if err := os.WriteFile(filepath.Join(photos, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, work := range []string{"pictures", "builtin", "workers", "raw"} {
		out, err := bench(t, photos, work)
		if want := "no JPEG files in " + photos; err == nil || !strings.Contains(out, want) || strings.Contains(out, "Traceback") {
			t.Errorf("%s: want %q, got %v\n%s", work, want, err, out)
		}
	}
}
