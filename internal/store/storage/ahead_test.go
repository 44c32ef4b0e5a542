package storage

import (
	"bytes"
	"io"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// A reader that goes back to the beginning of its last chunk, now and then, gets what is missing of
// it, and what was read ahead stays.
func TestReadersThatGoBackALittle(t *testing.T) {
	random := torture.Rand(t)
	f, root := newFake(t, nil)
	want := noise(12*partSize + 345)
	f.put("x", want)
	file := open(t, root+"/x")
	var again int64 // bytes of chunks that were read twice
	last := 0
	for at := 0; at < len(want); {
		size := min(1+random.IntN(partSize/2), len(want)-at)
		chunk := make([]byte, size)
		if _, err := file.Seek(int64(at), io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(file, chunk); err != nil || !bytes.Equal(chunk, want[at:at+size]) {
			t.Fatalf("%d bytes at %d: %v", size, at, err)
		}
		if at > last && random.IntN(2) == 0 {
			last = at
			again += int64(size)
			continue
		}
		at += size
	}
	if most := int64(len(want)) + partSize + again; f.bytes > most {
		t.Errorf("%d bytes were requested, want %d at most: it read %d twice", f.bytes, most, again)
	}
}
