package storage

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// flipping flips a bit of the bodies of the first n answers, or of all for a negative n: another one
// each time.
func flipping(f *fake, n int) {
	at := 0
	f.body = func(r io.Reader) io.Reader {
		data, err := io.ReadAll(r)
		if err == nil && n != 0 {
			n--
			data[at%len(data)] ^= 1
			at++
		}
		return bytes.NewReader(data)
	}
}

// notes are what NoteHarm says during a test.
func notes(t *testing.T) *[]string {
	all := new([]string)
	t.Cleanup(NoteHarm(func(s string) { *all = append(*all, s) }))
	return all
}

// Bytes that changed in transit come right when they are fetched again, and so does what was read
// ahead with them; damage of the object itself does not, and costs one request.
func TestRefetch(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(partSize)
	f.put("x", want)
	flipping(f, 1)
	said, before := notes(t), Harmed()
	in := Forward(open(t, root+"/x"))
	right := func(p []byte) bool { return bytes.Equal(p, want[:len(p)]) }
	p := make([]byte, 1000)
	if _, err := in.ReadAt(p, 0); err != nil || right(p) {
		t.Fatalf("nothing is damaged: %v", err)
	}
	if changed, err := Refetch(in, p, 0, right); !changed || err != nil || !right(p) {
		t.Errorf("%v, %v, right: %v", changed, err, right(p))
	}
	if n := Harmed() - before; n != 1 || len(*said) > 1 || len(*said) == 1 && !strings.Contains((*said)[0], root+"/x: some of bytes 0 to 999 changed in transit") {
		t.Errorf("counted %d, noted %q", n, *said)
	}
	if _, err := in.ReadAt(p, 0); err != nil || !right(p) {
		t.Errorf("what was read ahead is still damaged: %v", err)
	}
	around := func() int { // what is read ahead goes on meanwhile, and is not around caches
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.around
	}
	asked := around()
	if changed, err := Refetch(in, p, 0, func([]byte) bool { return false }); changed || err != nil || around() != asked+1 || !right(p) {
		t.Errorf("damage of the object: %v, %v, %d requests", changed, err, around()-asked)
	}
	if changed, err := Refetch(in, p, partSize-10, nil); changed || err != nil {
		t.Errorf("past the end: %v, %v", changed, err)
	}
	if changed, err := Refetch(bytes.NewReader(want), p, 0, nil); changed || err != nil {
		t.Errorf("no object: %v, %v", changed, err)
	}
}

// TestRefetchRandom fetches random parts of an object again, some longer than what one request is for,
// with and without a cache: what was harmed comes right, and nothing else is said to have changed.
func TestRefetchRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 24))
	f, root := newFake(t, nil)
	want := noise(2*partSize + 2*blockSize + 17)
	f.put("x", want)
	for _, cached := range []bool{false, true} {
		if cached {
			useCache(t, 1<<30)
		}
		for range 40 {
			in := open(t, root+"/x")
			off := r.IntN(len(want))
			length := r.IntN(len(want) - off + 1)
			if r.IntN(2) == 0 {
				length = min(length, 100)
			}
			p := make([]byte, length)
			if _, err := in.ReadAt(p, int64(off)); err != nil {
				t.Fatal(err)
			}
			harmed := map[int]bool{} // parts
			for range r.IntN(4) {
				if length > 0 {
					at := r.IntN(length)
					p[at] = want[off+at] ^ byte(1+r.IntN(255))
					harmed[at/partSize] = true
				}
			}
			before := Harmed()
			changed, err := Refetch(in, p, int64(off), nil)
			if err != nil || changed != (len(harmed) > 0) || int(Harmed()-before) != len(harmed) || !bytes.Equal(p, want[off:off+length]) {
				t.Errorf("%d bytes at %d, cached %v: %v, %v, %d of %d parts counted", length, off, cached, changed, err, Harmed()-before, len(harmed))
			}
			if _, err := in.ReadAt(p, int64(off)); err != nil || !bytes.Equal(p, want[off:off+length]) {
				t.Errorf("%d bytes at %d, cached %v: read again they differ: %v", length, off, cached, err)
			}
			in.Close()
		}
	}
}

// Bytes that are others each time are an error, and it blames the way.
func TestRefetchUnstable(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(partSize)
	f.put("x", want)
	in := open(t, root+"/x")
	flipping(f, -1)
	p := bytes.Clone(want[:1000])
	_, err := Refetch(in, p, 0, func([]byte) bool { return false })
	if err == nil || errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "in transit") || !strings.Contains(err.Error(), root+"/x") {
		t.Error(err)
	}
}

// What a cache got wrong is dropped from it as soon as a reader finds out, and a later reader finds
// the right bytes there. No cache, neither this one nor one on the way, answers when it is fetched
// again.
func TestRefetchAroundCaches(t *testing.T) {
	f, root := newFake(t, nil)
	want := noise(5 * blockSize)
	f.put("x", want)
	useCache(t, 1<<30)
	flipping(f, 1)
	read := func() []byte {
		t.Helper()
		in := open(t, root+"/x")
		defer in.Close()
		p := make([]byte, len(want)-blockSize)
		if _, err := in.ReadAt(p, blockSize); err != nil {
			t.Fatal(err)
		}
		return p
	}
	open(t, root+"/x").Close() // the first block, as it opens the object
	flipping(f, 1)
	damaged := read()
	if bytes.Equal(damaged, want[blockSize:]) {
		t.Fatal("nothing is damaged")
	}
	if !bytes.Equal(read(), damaged) {
		t.Fatal("the cache did not keep what came")
	}
	in := open(t, root+"/x")
	around := f.around
	if changed, err := Refetch(in, damaged[:100], blockSize, nil); !changed || err != nil || !bytes.Equal(damaged, want[blockSize:]) {
		t.Errorf("%v, %v", changed, err)
	}
	if f.around == around {
		t.Error("a cache on the way may answer")
	}
	if !bytes.Equal(read(), want[blockSize:]) {
		t.Error("the cache still has the damage")
	}
	opens := f.opens
	if !bytes.Equal(read(), want[blockSize:]) || f.opens != opens {
		t.Error("the cache did not keep the right bytes")
	}
}
