package augment

import "testing"

func newCodec(tb testing.TB, o CodecOptions) *Codec {
	tb.Helper()
	c, err := NewCodec(o)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
