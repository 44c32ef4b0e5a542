package stages

import (
	"testing"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// FuzzCachePlace cuts what it was given, and what was appended.
func FuzzCachePlace(f *testing.F) {
	f.Add(appendPlace(nil, &pipeline.Record{File: 2, Number: 300, Offset: 1 << 40, Epoch: 7, Pad: true}))
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, p []byte) {
		r, data, err := cutPlace(p, 9)
		if err != nil {
			return
		}
		again, more, err := cutPlace(append(appendPlace(nil, &r), data...), 9)
		if err != nil || again.File != r.File || again.Number != r.Number || again.Offset != r.Offset || again.Epoch != r.Epoch || again.Pad != r.Pad || string(more) != string(data) {
			t.Fatalf("%+v became %+v, %v", r, again, err)
		}
	})
}
