package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// script returns the path of a program that stands in for a build of tfrec.
func script(t *testing.T, body string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no /bin/sh")
	}
	path := filepath.Join(t.TempDir(), "tfrec")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
