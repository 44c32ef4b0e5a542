package render

import (
	"testing"

	"github.com/tfrec/tfrec/internal/codec/imagefile"
)

func newCodec(tb testing.TB, o imagefile.CodecOptions) *imagefile.Codec {
	tb.Helper()
	c, err := imagefile.NewCodec(o)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
