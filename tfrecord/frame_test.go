package tfrecord

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// TestLengthCRC compares the tables with hash/crc32.
func TestLengthCRC(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	lengths := []uint64{0, 1, 255, 256, 1<<16 - 1, 1 << 16, 1<<24 - 1, 1 << 24, 1<<32 - 1, 1 << 32, 1<<64 - 1}
	for range 10_000 {
		lengths = append(lengths, rnd.Uint64()>>rnd.IntN(64))
	}
	for _, n := range lengths {
		var p [8]byte
		binary.LittleEndian.PutUint64(p[:], n)
		crc := crc32.Checksum(p[:], crc32.MakeTable(crc32.Castagnoli))
		if got, want := maskedLengthCRC(n), (crc>>15|crc<<17)+0xa282ead8; got != want {
			t.Fatalf("length %d: %08x, want %08x", n, got, want)
		}
	}
}

func TestBeginAndEndFrame(t *testing.T) {
	var want, got []byte
	for _, p := range payloads() {
		want = AppendFrame(want, p)
		var mark int
		got, mark = BeginFrame(got)
		got = EndFrame(append(got, p...), mark)
	}
	if !bytes.Equal(got, want) {
		t.Error("frames built in place differ")
	}
}
