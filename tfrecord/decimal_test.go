package tfrecord

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestAppendDecimal compares with strconv: all numbers of up to five digits, those beside powers of
// ten, and random ones of any length.
func TestAppendDecimal(t *testing.T) {
	check := func(n int64) {
		if got, want := string(appendDecimal([]byte("x"), n)), "x"+strconv.FormatInt(n, 10); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	for n := range int64(100_000) {
		check(n)
		check(n * 10_000) // the digits before them
	}
	for power, digits := int64(1), 0; digits < 19; power, digits = power*10, digits+1 {
		for d := range int64(5) {
			check(power - 2 + d)
			check(math.MaxInt64 - power + d - 4)
		}
	}
	check(math.MinInt64)
	check(-1)
	for range 1_000_000 {
		check(rand.Int64() >> rand.IntN(63))
	}
}

// BenchmarkAppendIndex appends the lines of records of some 200 bytes.
func BenchmarkAppendIndex(b *testing.B) {
	line := make([]byte, 0, maxIndexLine)
	e := IndexEntry{Offset: 1e9, Size: 200}
	for b.Loop() {
		line = AppendIndex(line[:0], e)
		e.Offset += e.Size
	}
}
