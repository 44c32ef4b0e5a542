package compare

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// TestWriter compares random contents with themselves and with others, in pieces of
// any size.
func TestWriter(t *testing.T) {
	race.Skip(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		data := make([]byte, rnd.IntN(300_000))
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		other := bytes.Clone(data)
		switch rnd.IntN(4) {
		case 0:
		case 1:
			other = append(other, 0)
		case 2:
			other = other[:rnd.IntN(len(other)+1)]
		case 3:
			if len(other) > 0 {
				other[rnd.IntN(len(other))] ^= 1
			}
		}
		w := NewWriter(bytes.NewReader(other))
		w.Strict = rnd.IntN(2) == 0
		var err error
		for rest := data; len(rest) > 0 && err == nil; {
			n := 1 + rnd.IntN(len(rest))
			_, err = w.Write(rest[:n])
			rest = rest[n:]
		}
		finished := w.Finish()
		equal, eqErr := w.Equal()
		if finished != nil != w.Differs() || finished != nil && finished != ErrDiffers || equal == w.Differs() {
			t.Fatalf("finished with %v, differs %v, equal %v", finished, w.Differs(), equal)
		}
		want := bytes.Equal(data, other)
		if equal != want || eqErr != nil || err != nil && (!errors.Is(err, ErrDiffers) || want || !w.Strict) {
			t.Fatalf("%d bytes and %d: %v, %v, %v, want %v", len(data), len(other), equal, eqErr, err, want)
		}
	}
}

func TestWriterTellsReadErrors(t *testing.T) {
	broken := errors.New("broken")
	w := NewWriter(io.MultiReader(bytes.NewReader([]byte("ab")), iotest.ErrReader(broken)))
	if _, err := w.Write([]byte("abc")); !errors.Is(err, broken) {
		t.Errorf("written past a read error: %v", err)
	}
	w = NewWriter(iotest.ErrReader(broken))
	if _, err := w.Equal(); !errors.Is(err, broken) {
		t.Errorf("ended with a read error: %v", err)
	}
	if err := w.Finish(); !errors.Is(err, broken) || w.Differs() {
		t.Errorf("finished with a read error: %v, differs %v", err, w.Differs())
	}
	if equal, err := NewWriter(nil).Equal(); equal || err != nil {
		t.Errorf("equal to nothing: %v, %v", equal, err)
	}
}

func TestHasHash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	data := bytes.Repeat([]byte("content"), 300_000)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	sum := func(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
	at := storage.Parse(path)
	for _, c := range []struct {
		size int
		sum  string
		want bool
	}{{len(data), sum(data), true}, {len(data) - 1, sum(data), false}, {len(data), sum(data[1:]), false}, {len(data), "", false}} {
		if got, err := HasHash(t.Context(), at, int64(c.size), c.sum); got != c.want || err != nil {
			t.Errorf("%d bytes, %s: %v, %v, want %v", c.size, c.sum, got, err, c.want)
		}
	}
	if has, err := HasHash(t.Context(), at.Dir().Join("none"), 0, sum(nil)); has || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v, %v", has, err)
	}
}
