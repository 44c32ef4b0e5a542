package inflate

import (
	"bytes"
	"hash/adler32"
	"math/rand/v2"
	"testing"
)

// TestAdler compares with hash/adler32, in parts, with the largest bytes among them.
func TestAdler(t *testing.T) {
	data := bytes.Repeat([]byte{255}, 3<<20)
	if got, want := adler(1, data), adler32.Checksum(data); got != want {
		t.Errorf("%x, want %x", got, want)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 300 {
		part := data[:n*n/3]
		for i := range part {
			part[i] = byte(r.Uint32())
		}
		at := r.IntN(len(part) + 1)
		want := adler32.Checksum(part)
		if got := adler(adler(1, part[:at]), part[at:]); got != want {
			t.Fatalf("%d bytes: %x, want %x", len(part), got, want)
		}
		if got := adlerPlain(adlerPlain(1, part[:at]), part[at:]); got != want {
			t.Fatalf("%d bytes, plain: %x, want %x", len(part), got, want)
		}
	}
}

// FuzzAdler compares the assembly with the reference implementation and with hash/adler32.
func FuzzAdler(f *testing.F) {
	f.Add([]byte("some bytes"), uint32(1))
	f.Add(make([]byte, 100), uint32(65520<<16|65520))
	f.Fuzz(func(t *testing.T, data []byte, sum uint32) {
		sum = sum>>16%adlerMod<<16 | sum&0xFFFF%adlerMod
		if got, want := adler(sum, data), adlerPlain(sum, data); got != want {
			t.Errorf("%x, want %x", got, want)
		}
		if got, want := adler(1, data), adler32.Checksum(data); got != want {
			t.Errorf("%x, want %x", got, want)
		}
	})
}
