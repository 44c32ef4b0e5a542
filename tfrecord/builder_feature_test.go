package tfrecord

import (
	"bytes"
	"testing"
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
