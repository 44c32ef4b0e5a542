package tfrecord

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// TestFeaturesOfOtherExamples: an Example of another one's features has its bytes, those of a
// feature without a list included.
func TestFeaturesOfOtherExamples(t *testing.T) {
	var first, second Builder
	first.Int64("ints", 1, -1, 1<<62)
	first.Int64("no ints")
	first.Float("floats", 0.5, -2)
	first.Bytes("bytes", []byte("a"), nil, bytes.Repeat([]byte("x"), 300))
	first.String("a text", "é")
	data := first.Append(nil)
	for _, want := range [][]byte{data, []byte("\n\n\n\x08\n\x04none\x12\x00")} {
		var e Example
		if err := e.Parse(want); err != nil {
			t.Fatal(err)
		}
		second.Reset()
		for i := range e.Len() {
			key, f := e.At(e.Len() - 1 - i)
			second.Feature(string(key), f)
		}
		if got := second.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRecordsAroundAValue: with its value inserted, the record is that of Append.
func TestRecordsAroundAValue(t *testing.T) {
	rng := torture.Rand(t)
	var b, whole Builder
	for range 2000 {
		b.Reset()
		whole.Reset()
		value := make([]byte, rng.IntN(3)*rng.IntN(1<<rng.IntN(17)))
		for i := range value {
			value[i] = byte(rng.Uint32())
		}
		for range rng.IntN(8) {
			key, n := fmt.Sprint("key", rng.IntN(9)), rng.Int64()
			b.Int64(key, n)
			whole.Int64(key, n)
		}
		key := fmt.Sprint("key", rng.IntN(9))
		whole.Bytes(key, value)
		prefix := []byte("prefix")[:rng.IntN(7)]
		around, at := b.AppendAround(prefix, key, len(value))
		if !bytes.HasPrefix(around, prefix) {
			t.Fatal("dst is lost")
		}
		got := slices.Insert(slices.Clone(around), at, value...)
		if want := whole.Append(prefix); !bytes.Equal(got, want) {
			t.Fatalf("a value of %d bytes at %d: %q, want %q", len(value), at, got, want)
		}
	}
}
