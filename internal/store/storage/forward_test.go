package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// Forward gives the bytes of the object wherever it is read, backwards and past the end too.
func TestForwardReadsAnywhere(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(3*partSize + 17)
	f.put("a/b", want)
	file := Forward(open(t, root+"/a/b"))
	r := rand.New(rand.NewPCG(1, 2))
	at := 0
	for range 500 {
		n := r.IntN(300 << 10)
		switch r.IntN(20) {
		case 0:
			at = r.IntN(len(want) + 100)
		case 1:
			at = max(0, at-r.IntN(400<<10))
		}
		p := make([]byte, n)
		got, err := file.ReadAt(p, int64(at))
		expected := want[min(at, len(want)):min(at+n, len(want))]
		if !bytes.Equal(p[:got], expected) || (err != nil) != (got < n) || err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%d bytes at %d: %d, %v", n, at, got, err)
		}
		if at += n - r.IntN(100); at >= len(want) || at < 0 {
			at = 0
		}
	}
}

// Headers throughout an object take a request for each part, with reads that overlap, too; those
// far apart one each.
func TestForwardReadsInParts(t *testing.T) {
	const size = firstPart + 8*partSize
	data := noise(size)
	for _, c := range []struct{ step, read, most int }{
		{1000, 4 << 10, 9}, {200 << 10, 256 << 10, 9}, {1 << 20, 4 << 10, 9}, {2 * partSize, 4 << 10, 6},
	} {
		t.Run(fmt.Sprint(c.step), func(t *testing.T) {
			f, root := newFake(t, nil)
			f.put("a/b", data)
			file := Forward(open(t, root+"/a/b"))
			p := make([]byte, c.read)
			for at := 0; at < size; at += c.step {
				n, err := file.ReadAt(p, int64(at))
				if err != nil && err != io.EOF || !bytes.Equal(p[:n], data[at:min(at+c.read, size)]) {
					t.Fatalf("%d bytes at %d, %v", n, at, err)
				}
			}
			if f.opens > c.most {
				t.Errorf("%d requests, want %d at most", f.opens, c.most)
			}
		})
	}
}
