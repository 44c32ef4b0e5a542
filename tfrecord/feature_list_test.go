package tfrecord

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestListsYieldWhatAppendGives compares the two ways to read a feature's values, over packed,
// single and split lists, and stops each iteration somewhere.
func TestListsYieldWhatAppendGives(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var list []byte
		kind := KindBytes + Kind(rng.IntN(3))
		for range rng.IntN(6) {
			switch n := rng.IntN(40); kind {
			case KindBytes:
				list = appendField(list, tagBytes, noise(n))
			case KindInt64:
				var packed []byte
				for range n {
					packed = appendVarint(packed, rng.Uint64()>>rng.IntN(64))
				}
				list = appendField(list, tagPacked, packed)
				list = appendVarint(appendVarint(list, tagVarint), rng.Uint64())
			case KindFloat:
				list = appendField(list, tagPacked, noise(4*n))
				list = append(appendVarint(list, tagFixed32), noise(4)...)
			}
		}
		n, err := countList(list, 0, kind)
		if err != nil {
			t.Fatal(err)
		}
		f := Feature{kind, n, list}
		ints, floats, values := slices.Collect(f.Int64List()), slices.Collect(f.FloatList()), slices.Collect(f.BytesList())
		if len(ints)+len(floats)+len(values) != n {
			t.Fatalf("%v: %d, %d and %d values, want %d", kind, len(ints), len(floats), len(values), n)
		}
		sameBits := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
		if !slices.Equal(ints, f.AppendInt64s(nil)) || !slices.EqualFunc(floats, f.AppendFloats(nil), sameBits) || !slices.EqualFunc(values, f.AppendBytes(nil), bytes.Equal) {
			t.Fatalf("%v: other values than those appended", kind)
		}
		stop, seen := rng.IntN(n+1), 0
		for range f.Int64List() {
			if seen++; seen > stop {
				break
			}
		}
		for range f.FloatList() {
			if seen++; seen > stop {
				break
			}
		}
		for range f.BytesList() {
			if seen++; seen > stop {
				break
			}
		}
		if seen != min(stop+1, n) {
			t.Fatalf("%v: %d of %d values before a break after %d", kind, seen, n, stop)
		}
	}
}

// appendField appends a length-delimited field.
func appendField(dst []byte, tag uint64, value []byte) []byte {
	return append(appendVarint(appendVarint(dst, tag), uint64(len(value))), value...)
}
