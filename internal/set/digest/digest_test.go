package digest

import (
	"slices"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// AppendEach gives each value the hash that OfValue gives a feature with it alone.
func TestAppendEach(t *testing.T) {
	long := make([]byte, 5000)
	for name, build := range map[string]func(b *tfrecord.Builder, key string, from, to int){
		"int64": func(b *tfrecord.Builder, key string, from, to int) { b.Int64(key, []int64{-1, 0, 1 << 40}[from:to]...) },
		"float": func(b *tfrecord.Builder, key string, from, to int) {
			b.Float(key, []float32{0, -2.5, 1e30}[from:to]...)
		},
		"bytes": func(b *tfrecord.Builder, key string, from, to int) {
			b.Bytes(key, [][]byte{nil, []byte("a"), long}[from:to]...)
		},
	} {
		var b tfrecord.Builder
		build(&b, "all", 0, 3)
		for i := range 3 {
			build(&b, string(rune('0'+i)), i, i+1)
		}
		var e tfrecord.Example
		if err := e.Parse(b.Append(nil)); err != nil {
			t.Fatal(err)
		}
		all, _ := e.Get("all")
		var want []Hash
		for i := range 3 {
			f, _ := e.Get(string(rune('0' + i)))
			want = append(want, OfValue(f))
		}
		if got := AppendEach(nil, all); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if got := AppendEach(nil, tfrecord.Feature{}); len(got) != 0 {
			t.Errorf("%s: %v of nothing", name, got)
		}
	}
	if a, b := (Hash{1, 2}), (Hash{1, 3}); a.Compare(b) >= 0 || b.Compare(a) <= 0 || a.Compare(a) != 0 || (Hash{2, 0}).Compare(b) <= 0 {
		t.Error("the order of hashes")
	}
}
