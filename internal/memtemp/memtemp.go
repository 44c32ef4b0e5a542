// Package memtemp gives tests temporary directories that are in memory.
package memtemp

import (
	"os"
	"testing"
)

// leastRoom is how many bytes there must be in memory for tests to go there:
// more than any package's tests write, and more than containers have unless
// somebody gave them memory for that.
const leastRoom = 2 << 30

// Use has [os.TempDir], and testing's directories with it, are in memory from now on where the
// system has a place with room for that. For TestMain, of tests that sync thousands of small files:
// on a disk they would wait for that most of their time. What is in TMPDIR already stays.
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
