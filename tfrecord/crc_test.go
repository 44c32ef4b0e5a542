package tfrecord

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// A checksum in steps is the one of all data, whatever its length.
func TestMaskedCRC(t *testing.T) {
	data := make([]byte, 4*crcStep+100)
	rand.NewChaCha8([32]byte{7}).Read(data)
	for steps := range 5 {
		for _, more := range []int{-64, -1, 0, 1, 63, 64, 65} {
			n := max(steps*crcStep+more, 0)
			for from := range 3 {
				p := data[from : from+n]
				if got, want := maskedCRC(p), mask(crc32.Checksum(p, castagnoli)); got != want {
					t.Fatalf("%d bytes: %08x, want %08x", n, got, want)
				}
			}
		}
	}
}

// BenchmarkCRC computes checksums of records in main memory and in the cache, in steps and with
// package crc32 alone.
func BenchmarkCRC(b *testing.B) {
	const record = 100_000
	for name, size := range map[string]int{"memory": 256 << 20, "cache": record} {
		data := make([]byte, size)
		rand.NewChaCha8([32]byte{7}).Read(data) // so that there is memory
		for how, sum := range map[string]func([]byte) uint32{
			"steps": maskedCRC,
			"plain": func(p []byte) uint32 { return mask(crc32.Checksum(p, castagnoli)) },
		} {
			b.Run(fmt.Sprintf("%s/%s", name, how), func(b *testing.B) {
				b.SetBytes(record)
				at := 0
				for b.Loop() {
					sum(data[at : at+record])
					if at += record; at+record > len(data) {
						at = 0
					}
				}
			})
		}
	}
}
