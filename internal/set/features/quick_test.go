package features

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// bothScans scans records with and without Quick and compares the results. It returns how many
// records Quick handled.
func bothScans(t *testing.T, records [][]byte) (quick int) {
	t.Helper()
	with, without := NewScan(), NewScan()
	for _, r := range records {
		if with.Quick(r) {
			quick++
		} else {
			with.Add(r)
		}
		err := without.example.Parse(r)
		without.AddParsed(r, &without.example, err)
	}
	if with.records != without.records || with.others != without.others || !reflect.DeepEqual(maps.Collect(with.table.All()), maps.Collect(without.table.All())) {
		t.Fatalf("%d records: %d, others %d, features %v; the strict way %d, others %d, features %v",
			len(records), with.records, with.others, maps.Collect(with.table.All()), without.records, without.others, maps.Collect(without.table.All()))
	}
	return quick
}

// exampleOf makes an Example with random values.
func exampleOf(rng *rand.Rand) []byte {
	var b tfrecord.Builder
	b.Int64("id", rng.Int64()>>rng.IntN(64))
	b.Float("score", make([]float32, rng.IntN(3))...)
	b.Int64("sizes", make([]int64, rng.IntN(3))...)
	switch rng.IntN(4) {
	case 0:
		b.String("text", "some text")
	case 1:
		b.Bytes("text", []byte("\xff\xd8\xff\xe0"))
	case 2:
		b.Bytes("text", bytes.Repeat([]byte{0x89}, 300))
	case 3:
		b.String("text", "two", "of them")
	}
	return b.Append(nil)
}

func TestQuickScanSaysWhatTheStrictOneDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	quick := 0
	for range 200 {
		var records [][]byte
		for range 20 {
			r := exampleOf(rng)
			for range rng.IntN(3) * rng.IntN(2) {
				r[rng.IntN(len(r))] ^= 1 << rng.IntN(8)
			}
			records = append(records, r[:len(r)-rng.IntN(2)*rng.IntN(2)*rng.IntN(2)])
		}
		quick += bothScans(t, records)
	}
	if quick < 500 {
		t.Errorf("%d of 4000 records went the quick way", quick)
	}
}

func FuzzQuickScan(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		f.Add(exampleOf(rng), exampleOf(rng))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) { bothScans(t, [][]byte{a, b, a}) })
}

func BenchmarkQuick(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 6))
	s, record := NewScan(), exampleOf(rng)
	s.Add(record)
	if !s.Quick(record) {
		b.Fatal("not in the usual form")
	}
	b.SetBytes(int64(len(record)))
	for b.Loop() {
		s.Quick(record)
	}
}

// BenchmarkQuickSmall scans a record of 184 bytes with its framing.
func BenchmarkQuickSmall(b *testing.B) {
	var builder tfrecord.Builder
	builder.Int64("height", 1<<37)
	builder.Int64("label", 3)
	builder.Bytes("picture", bytes.Repeat([]byte{0x9c}, 94))
	builder.String("text", "some text")
	s, record := NewScan(), builder.Append(nil)
	s.Add(record)
	if !s.Quick(record) {
		b.Fatal("not in the usual form")
	}
	b.SetBytes(int64(len(record)))
	for b.Loop() {
		s.Quick(record)
	}
}
