// Package memtemp gives tests temporary directories that are in memory.
package memtemp

import (
	"os"
	"testing"
)

// leastRoom is the minimum free space in memory, in bytes, for tests to use it: more than any
// package's tests write, and more than containers have by default.
const leastRoom = 2 << 30

// Use moves [os.TempDir], and testing's directories with it, into memory if the system has a file
// system there with enough room. It is for TestMain of tests that sync thousands of small files: on
// a disk they would spend most of their time waiting. An existing TMPDIR is kept.
func Use() {
	if os.Getenv("TMPDIR") != "" {
		return
	}
	if dir := directory(); dir != "" {
		os.Setenv("TMPDIR", dir)
	}
}

// Main is a TestMain that calls [Use].
func Main(m *testing.M) {
	Use()
	os.Exit(m.Run())
}
