package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// quick returns the context of a test, with short pauses between requests that fail.
func quick(t testing.TB) context.Context {
	return context.WithValue(t.Context(), longestPause{}, time.Millisecond)
}

// noise is data in which each place looks different.
func noise(n int) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(data)
	return data
}

func open(t *testing.T, path string) File {
	t.Helper()
	f, err := Open(quick(t), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestReadFromFrontToBack(t *testing.T) {
	for _, size := range []int{0, 1, firstPart - 1, firstPart, firstPart + 1, firstPart + partSize, 4*partSize + 17} {
		f, root := newFake(t, nil)
		want := noise(size)
		f.put("a/b", want)
		file := open(t, root+"/a/b")
		got, err := io.ReadAll(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("size %d: read %d bytes, %v", size, len(got), err)
		}
		if parts := 1 + (max(0, size-firstPart)+partSize-1)/partSize; f.opens != parts {
			t.Errorf("size %d: %d requests, want one for each of %d parts", size, f.opens, parts)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
		if _, err := file.ReadAt(make([]byte, 1), 0); size > 0 && !errors.Is(err, fs.ErrClosed) {
			t.Errorf("size %d: reading from a closed file: %v", size, err)
		}
	}
}

func TestReadAtAnyOffset(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(3*partSize + 5)
	f.put("x", want)
	file := open(t, root+"/x")
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			at := int64(0)
			for range race.Few(60, 15) {
				if r.IntN(3) == 0 {
					at = r.Int64N(int64(len(want)) + 10)
				}
				p := make([]byte, r.IntN(100_000))
				n, err := file.ReadAt(p, at)
				rest := want[min(at, int64(len(want))):]
				if n != min(len(p), len(rest)) || (err == io.EOF) != (n < len(p)) || err != nil && err != io.EOF || !bytes.Equal(p[:n], rest[:n]) {
					t.Errorf("ReadAt(%d bytes, %d) = %d, %v", len(p), at, n, err)
					return
				}
				at += int64(n)
			}
		})
	}
	group.Wait()
	if _, err := file.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("a negative offset reads")
	}
}

// A sequential reader in small steps gets whole parts; random reads get no more than requested.
func TestReadAtAsksForWhatIsNeeded(t *testing.T) {
	f, root := newFake(t, nil)
	f.put("x", noise(4*partSize))
	file := open(t, root+"/x")
	for _, at := range []int64{5_000_000, 100, 9_000_000} {
		if _, err := file.ReadAt(make([]byte, 1000), at); err != nil {
			t.Fatal(err)
		}
	}
	if f.opens != 3 || f.bytes != firstPart+2000 {
		t.Errorf("three jumps, one to the beginning: %d requests for %d bytes, want 3 for %d", f.opens, f.bytes, firstPart+2000)
	}
	f.opens = 0
	for at := int64(0); at < 4*partSize; at += 1 << 16 {
		if _, err := file.ReadAt(make([]byte, 1<<16), at); err != nil {
			t.Fatal(err)
		}
	}
	if f.opens > 4 {
		t.Errorf("from front to back: %d requests, want one a part", f.opens)
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("connection reset by peer") }

func TestFaultsOnTheWayAreMadeGood(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(3 * partSize)
	f.put("x", want)
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(7, 7))
	f.fault = func() error {
		mu.Lock()
		defer mu.Unlock()
		if r.IntN(5) == 0 {
			return errors.New("503 slow down")
		}
		return nil
	}
	f.body = func(body io.Reader) io.Reader {
		mu.Lock()
		defer mu.Unlock()
		if r.IntN(3) == 0 {
			return io.MultiReader(io.LimitReader(body, r.Int64N(1000)), failingReader{})
		}
		return io.LimitReader(body, r.Int64N(partSize))
	}
	got, err := io.ReadAll(open(t, root+"/x"))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("read %d bytes, %v", len(got), err)
	}
	if f.opens < 6 {
		t.Errorf("only %d requests: nothing broke", f.opens)
	}
}

func TestFaultsThatLast(t *testing.T) {
	f, root := newFake(t, nil)
	f.put("x", noise(firstPart+10))
	for _, lasts := range []error{fs.ErrPermission, fs.ErrNotExist} {
		f.fault = nil
		file := open(t, root+"/x")
		f.opens, f.fault = 0, func() error { return lasts }
		_, err := io.ReadAll(file)
		if !errors.Is(err, lasts) || !strings.Contains(err.Error(), root+"/x") || f.opens != 1 {
			t.Errorf("%v: %v after %d requests", lasts, err, f.opens)
		}
		if _, err := Open(quick(t), root+"/x"); !errors.Is(err, lasts) {
			t.Errorf("%v: Open: %v", lasts, err)
		}
	}
}

func TestReplacedObject(t *testing.T) {
	f, root := newFake(t, nil)
	f.put("x", noise(8*partSize))
	file := open(t, root+"/x")
	if _, err := io.ReadFull(file, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	f.put("x", noise(8*partSize))
	if _, err := io.ReadAll(file); !errors.Is(err, ErrChanged) {
		t.Errorf("reading on behind a change: %v, want ErrChanged", err)
	}
}

func TestWaitsEnd(t *testing.T) {
	t.Run("close", func(t *testing.T) { testEnd(t, func(file File, _ context.CancelFunc) { file.Close() }) })
	t.Run("context", func(t *testing.T) { testEnd(t, func(_ File, cancel context.CancelFunc) { cancel() }) })
	t.Run("deadline", func(t *testing.T) {
		testEnd(t, func(file File, _ context.CancelFunc) { file.SetReadDeadline(time.Unix(1, 0)) })
	})
}

// testEnd ends a read of what never comes.
func testEnd(t *testing.T, end func(File, context.CancelFunc)) {
	f, root := newFake(t, nil)
	f.put("x", noise(firstPart+10))
	ctx, cancel := context.WithCancel(quick(t))
	defer cancel()
	file, err := Open(ctx, root+"/x")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(firstPart, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	f.hang = func(ctx context.Context) { close(begun); <-ctx.Done() }
	ended := make(chan error)
	go func() { _, err := file.Read(make([]byte, 1)); ended <- err }()
	<-begun
	end(file, cancel)
	if err := <-ended; err == nil {
		t.Error("a read that was ended has no error")
	}
}
