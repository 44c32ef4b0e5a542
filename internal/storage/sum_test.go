package storage

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
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
