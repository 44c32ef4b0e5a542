package storage

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// The check values of the Catalogue of parametrised CRC algorithms, and of RFC 1321 and FIPS 180.
func TestSums(t *testing.T) {
	for kind, want := range map[SumKind]string{
		CRC32C: "e3069283", CRC32: "cbf43926", CRC64NVME: "ae8b14860a799888", MD5: "25f9e794323b453885f5181f1b624d0b",
		SHA256: "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
	} {
		if got := hex.EncodeToString([]byte(SumOf(kind, []byte("123456789")).Value)); got != want {
			t.Errorf("%s: %s, not %s", kind, got, want)
		}
	}
}

// Bytes that never have the checksum are an error that blames the way, not the file; those that come
// twice without one that is a guess are taken.
func TestSumsThatNeverHold(t *testing.T) {
	for _, guessed := range []bool{false, true} {
		f, url := newFake(t, map[string]string{"x": "hello"})
		f.sum = SumOf(CRC32C, []byte("jello"))
		f.sum.Guessed = guessed
		file, err := Parse(url + "/x").Open(quick(t))
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, 5)
		_, err = file.ReadAt(data, 0)
		file.Close()
		switch {
		case guessed && (err != nil || string(data) != "hello" || f.opens > 3):
			t.Errorf("a guess: %q, %v, %d requests", data, err, f.opens)
		case !guessed && (err == nil || errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "on the way") || !strings.Contains(err.Error(), url) || f.opens > 4):
			t.Errorf("%v, %d requests", err, f.opens)
		}
	}
}

// A store whose guessed checksums are never those of the contents, such as random ETags, is read once.
func TestUselessGuesses(t *testing.T) {
	for _, right := range []bool{false, true} {
		f, url := newFake(t, map[string]string{"x": "hello", "y": "world"})
		read := func(name, content string) {
			t.Helper()
			file, err := Parse(url + "/" + name).Open(quick(t))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			data := make([]byte, 5)
			if _, err := file.ReadAt(data, 0); err != nil || string(data) != content {
				t.Errorf("%q, %v", data, err)
			}
		}
		if right { // one guess that holds is why to go on
			f.sum = SumOf(MD5, []byte("world"))
			f.sum.Guessed = true
			read("y", "world")
		}
		f.sum = SumOf(MD5, []byte("jello"))
		f.sum.Guessed = true
		for range 3 {
			read("x", "hello")
		}
		before := f.opens
		read("x", "hello")
		if got, want := f.opens-before, map[bool]int{false: 1, true: 2}[right]; got != want {
			t.Errorf("a guess was right: %v; %d requests, want %d", right, got, want)
		}
	}
}

// Ranges of an object of which the store states checksums come right, however they are read: what
// flips is fetched again, and what is cut is not taken for the checksum of the rest.
func TestSumsOfRanges(t *testing.T) {
	r := torture.Rand(t)
	f, url := newFake(t, nil)
	want := noise(3*partSize + 12345)
	f.put("x", want)
	f.ranges = CRC64NVME
	var mu sync.Mutex // f holds its own while a body is made, not while it is read
	harmed := 0
	f.body = func(body io.Reader) io.Reader {
		data, _ := io.ReadAll(body)
		mu.Lock()
		defer mu.Unlock()
		if r.IntN(8) == 0 { // so that [tries] of a range in a row do not happen
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
			harmed++
		}
		if r.IntN(4) == 0 {
			data = data[:r.IntN(len(data))]
		}
		return bytes.NewReader(data)
	}
	for _, cached := range []bool{false, true} {
		if cached {
			useCache(t, 1<<30)
		}
		for range 3 {
			file, err := Parse(url + "/x").Open(quick(t))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(file)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("cached %v: in sequence: %v, equal: %v", cached, err, bytes.Equal(got, want))
			}
			for range 20 {
				off := r.IntN(len(want))
				p := make([]byte, min(1+r.IntN(300_000), len(want)-off))
				if _, err := file.ReadAt(p, int64(off)); err != nil || !bytes.Equal(p, want[off:off+len(p)]) {
					t.Errorf("cached %v: %d bytes at %d: %v", cached, len(p), off, err)
				}
			}
			file.Close()
		}
	}
	if harmed == 0 {
		t.Error("nothing was harmed")
	}
}

// A range that never has its checksum is an error that blames the way.
func TestRangesThatNeverHold(t *testing.T) {
	f, url := newFake(t, nil)
	f.put("x", noise(partSize))
	f.ranges = CRC64NVME
	in, err := Parse(url + "/x").Open(quick(t))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	flipping(f, -1)
	p := make([]byte, 1000)
	if _, err := in.ReadAt(p, 2<<20); err == nil || errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "change on the way") || !strings.Contains(err.Error(), string(CRC64NVME)) {
		t.Error(err)
	}
}

func BenchmarkSums(b *testing.B) {
	data := noise(partSize)
	for _, kind := range []SumKind{CRC32C, CRC64NVME, CRC32, SHA256, MD5} {
		b.Run(string(kind), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				SumOf(kind, data)
			}
		})
	}
}
