//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenRefusesAtOnce opens what nobody writes to and what has no end, by name and
// by a link.
func TestOpenRefusesAtOnce(t *testing.T) {
	dir := t.TempDir()
	fifo, socket := filepath.Join(dir, "fifo"), filepath.Join(dir, "s")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skipf("no FIFOs here: %v", err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, says := range map[string]string{
		fifo: "a pipe: copy", socket: "a socket", dir: "a directory", os.DevNull: "a device", "/dev/zero": "a device",
	} {
		link := filepath.Join(dir, "to-"+filepath.Base(path))
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{path, link} {
			_, err := ReadFile(p, 1<<20)
			var at *fs.PathError
			if !errors.Is(err, ErrNotRegular) || !errors.As(err, &at) || at.Path != p || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v; want %q", p, err, says)
			}
		}
	}
}

// TestReadFileIsBounded reads files just below, at and above the limit. A file far
// above it is not read at all: it would take minutes.
func TestReadFileIsBounded(t *testing.T) {
	const limit = 1 << 16
	for _, size := range []int64{0, 1, limit - 1, limit, limit + 1, 1 << 40} {
		path := filepath.Join(t.TempDir(), "sparse")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Skipf("no sparse files here: %v", err)
		}
		data, err := ReadFile(path, limit)
		switch {
		case size <= limit && (err != nil || int64(len(data)) != size):
			t.Errorf("%d bytes: got %d, %v", size, len(data), err)
		case size > limit && (err == nil || !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "65536 bytes") || !strings.Contains(err.Error(), path)):
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	// The size that the system reports need not be that of the contents.
	if _, err := ReadFile("/proc/self/status", 10); err == nil {
		t.Error("a file in /proc was read whole")
	} else if data, err := ReadFile("/proc/self/status", limit); !errors.Is(err, fs.ErrNotExist) && (err != nil || len(data) == 0) {
		t.Errorf("a file in /proc: %d bytes, %v", len(data), err)
	}
}
