package tfrecord

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scanned returns all features of an Example by key, like Features.Map. False means that one of
// them is not in the usual form, or malformed.
func scanned(t *testing.T, data []byte) (map[string]any, bool) {
	pos, ok := ScanExample(data)
	if !ok {
		return nil, false
	}
	all := map[string]any{}
	for pos < len(data) {
		e, ok := ScanEntry(data, pos)
		if !ok {
			return nil, false
		}
		if e.KeyFrom <= pos || e.KeyTo < e.KeyFrom || e.From <= e.KeyTo || e.To < e.From || e.To > len(data) {
			t.Fatalf("%+v at %d of %d bytes", e, pos, len(data))
		}
		key := string(data[e.KeyFrom:e.KeyTo])
		if all[key], ok = scannedValues(t, data[e.From:e.To]); !ok {
			return nil, false
		}
		pos = e.To
	}
	return all, true
}

func scannedValues(t *testing.T, feature []byte) (any, bool) {
	kind, values, ok := ScanFeature(feature)
	if !ok {
		return nil, false
	}
	switch kind {
	case KindBytes:
		all := [][]byte{}
		for len(values) > 0 {
			first, rest, ok := ScanBytes(values)
			if !ok {
				return nil, false
			}
			all, values = append(all, first), rest
		}
		return all, true
	case KindFloat:
		all := []float32{}
		for ; len(values) >= 4; values = values[4:] {
			all = append(all, math.Float32frombits(binary.LittleEndian.Uint32(values)))
		}
		return all, len(values) == 0
	case KindInt64:
		all := []int64{}
		for len(values) > 0 {
			v, n := binary.Uvarint(values)
			if n <= 0 {
				return nil, false
			}
			all, values = append(all, int64(v)), values[n:]
		}
		return all, true
	}
	t.Fatalf("%x is of kind %v", feature, kind)
	return nil, false
}

// holdScan checks that everything scanned equals what Parse reads.
func holdScan(t *testing.T, data []byte) (usual bool) {
	got, ok := scanned(t, data)
	if !ok {
		return false
	}
	var e Example
	if err := e.Parse(data); err != nil {
		t.Fatalf("it was scanned, and %v", err)
	}
	sameBits := cmp.Comparer(func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
	sameBytes := cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) })
	if diff := cmp.Diff(e.Map(), got, sameBits, sameBytes); diff != "" {
		t.Fatalf("(-parsed +scanned):\n%s", diff)
	}
	return true
}

// A Builder's output has the usual form, whatever the lengths.
func TestScan(t *testing.T) {
	for _, size := range []int{0, 1, 15, 16, 17, 126, 127, 128, 129, 16383, 16384, 1 << 21} {
		var b Builder
		b.Bytes("bytes", make([]byte, size), nil, []byte("x"))
		b.Float("float", make([]float32, size%1000)...)
		b.Int64("int64", make([]int64, size%1000)...)
		b.Int64("large", 127, 128, -1, math.MaxInt64, math.MinInt64)
		b.Float("nan", float32(math.NaN()), float32(math.Inf(-1)))
		b.Float(string(bytes.Repeat([]byte("k"), size%20000)), 1, 2, 3, 4, 5)
		if data := b.Append(nil); !holdScan(t, data) {
			t.Errorf("a builder's Example with values of %d bytes is not of the usual form", size)
		}
	}
	if !holdScan(t, nil) {
		t.Error("an Example without a byte is not of the usual form")
	}
}

// No truncated Example is accepted, and nothing is read past its end.
func TestScanCutOff(t *testing.T) {
	var b Builder
	b.Bytes("a", []byte("some"), nil)
	b.Float("b", 1, 2)
	b.Int64("c", 3, 300)
	data := b.Append(nil)
	for n := 1; n < len(data); n++ {
		if _, ok := scanned(t, bytes.Clone(data[:n])); ok {
			t.Errorf("the first %d bytes of %d are an Example", n, len(data))
		}
	}
	for i := range data { // everything scanned equals what Parse reads
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff, data[i] + 1, data[i] - 1} {
			other := bytes.Clone(data)
			other[i] = v
			holdScan(t, other)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, c := range oddExamples {
		f.Add(c.data)
	}
	for _, data := range vectorData(f, "example") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { holdScan(t, data) })
}

func TestParseKind(t *testing.T) {
	for k := KindBytes; k <= KindInt64; k++ {
		if got, err := ParseKind(k.String()); got != k || err != nil {
			t.Errorf("%v: %v, %v", k, got, err)
		}
	}
	for _, name := range []string{"", "none", "Bytes", "int"} {
		if k, err := ParseKind(name); k != KindNone || err == nil {
			t.Errorf("%q: %v, %v", name, k, err)
		}
	}
}
