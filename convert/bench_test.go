package convert

import (
	"context"
	"testing"

	"github.com/tfrec/tfrec/augment"
)

// BenchmarkImages converts the demo's photographs to 224x224 JPEG, shards on
// disk, synced. Its images/s are the README's.
func BenchmarkImages(b *testing.B) {
	for _, decoder := range []string{"turbo", "go"} {
		for _, workers := range []struct {
			name string
			n    int
		}{{"1", 1}, {"2", 2}, {"all", 0}} {
			b.Run(decoder+"/workers="+workers.name, func(b *testing.B) {
				o := ImageOptions{Codec: augment.CodecOptions{Decoder: decoder}, Resize: augment.ResizeSpec{Width: 224, Height: 224}}
				o.Workers, o.Shards = workers.n, 1
				b.ReportAllocs()
				records := 0.0
				for b.Loop() {
					s, err := Images(context.Background(), "../testdata/demo/photos", b.TempDir(), o)
					if err != nil {
						b.Skip(err)
					}
					records += float64(s.Records)
				}
				b.ReportMetric(records/b.Elapsed().Seconds(), "images/s")
			})
		}
	}
}
