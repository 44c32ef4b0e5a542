//go:build unix

package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/store/regular"
)

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no FIFOs here: %v", err)
	}
	return path
}

func TestOpenRefusesPipes(t *testing.T) {
	if _, err := Open(t.Context(), fifo(t)); !errors.Is(err, regular.ErrNotRegular) {
		t.Errorf("%v; want %v", err, regular.ErrNotRegular)
	}
	if _, err := OpenStream(t.Context(), t.TempDir()); !errors.Is(err, regular.ErrNotRegular) {
		t.Errorf("a directory: %v; want %v", err, regular.ErrNotRegular)
	}
}

// TestStreamWaitsForItsWriter opens a FIFO before anybody writes to it, and reads
// all that somebody then writes in pieces.
func TestStreamWaitsForItsWriter(t *testing.T) {
	path := fifo(t)
	f, err := OpenStream(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		var b bytes.Buffer
		_, err := io.Copy(&b, f)
		read <- result{b.Bytes(), err}
	}()
	time.Sleep(50 * time.Millisecond) // more often than not, Read is waiting now
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"one ", "two"} {
		time.Sleep(20 * time.Millisecond) // so that the parts are read one by one, or not
		if _, err := w.WriteString(part); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	if r := <-read; r.err != nil || string(r.data) != "one two" {
		t.Errorf("read %q, %v", r.data, r.err)
	}
}

// TestStreamEndsWithItsContext cancels reads of a FIFO without a writer, and of one
// whose writer is silent.
func TestStreamEndsWithItsContext(t *testing.T) {
	for _, writer := range []bool{false, true} {
		path := fifo(t)
		ctx, cancel := context.WithCancel(t.Context())
		f, err := OpenStream(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if writer {
			w, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
		}
		time.AfterFunc(20*time.Millisecond, cancel) // more often than not, Read is waiting then
		if _, err := f.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("writer %v: %v; want %v", writer, err, context.Canceled)
		}
	}
}

// TestEndlessStreamEndsWithItsContext cancels reads of what always has more bytes: a
// device, and a FIFO whose writer keeps it full.
func TestEndlessStreamEndsWithItsContext(t *testing.T) {
	full := fifo(t)
	w, err := os.OpenFile(full, os.O_RDWR, 0) // both ends, so that nothing waits
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Write(make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/dev/zero", full} {
		ctx, cancel := context.WithCancel(t.Context())
		f, err := OpenStream(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if n, err := f.Read(make([]byte, 64)); n == 0 || err != nil {
			t.Fatalf("%s: %d bytes, %v", path, n, err)
		}
		cancel()
		if n, err := f.Read(make([]byte, 64)); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d bytes after the end, %v; want %v", path, n, err, context.Canceled)
		}
		if n, err := io.Copy(io.Discard, io.LimitReader(f, 1<<20)); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: copied %d bytes after the end, %v; want %v", path, n, err, context.Canceled)
		}
	}
}

// TestStreamOfTheShell reads an anonymous pipe by the name that a shell gives it, whose writer may
// already have closed it.
func TestStreamOfTheShell(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("all"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	f, err := OpenStream(t.Context(), filepath.Join("/dev/fd", strconv.Itoa(int(r.Fd()))))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no /dev/fd here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if data, err := io.ReadAll(f); err != nil || string(data) != "all" {
		t.Errorf("read %q, %v", data, err)
	}
}

// TestStreamOfAWriterThatWroteNothing reads a FIFO whose writer closes it before the first Read.
func TestStreamOfAWriterThatWroteNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems do not tell")
	}
	path := fifo(t)
	f, err := OpenStream(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	time.Sleep(20 * time.Millisecond)                     // for the poller to have seen that, or not
	if _, err := f.Read(make([]byte, 1)); err != io.EOF { // or it waits for another writer
		t.Errorf("%v, want EOF", err)
	}
}
