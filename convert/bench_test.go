package convert

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
		}{{"1", 1}, {"2", 2}} {
			b.Run(decoder+"/workers="+workers.name, func(b *testing.B) {
				o := ImageOptions{Codec: augment.CodecOptions{Decoder: decoder}, Resize: augment.ResizeSpec{Width: 224, Height: 224, Antialias: true}}
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

// BenchmarkUpToDate is an up-to-date run over 100,000 images in 100 directories.
func BenchmarkUpToDate(b *testing.B) {
	const directories, each = 100, 1000
	src, out := filepath.Join(b.TempDir(), "src"), b.TempDir()
	for f := range directories {
		dir := filepath.Join(src, fmt.Sprintf("c%03d", f))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for i := range each {
			path := filepath.Join(dir, fmt.Sprintf("%04d.png", i))
			if err := os.WriteFile(path, pngOf(f*each+i), 0o644); err != nil {
				b.Fatal(err)
			}
			if err := os.Chtimes(path, old, old); err != nil {
				b.Fatal(err)
			}
		}
	}
	convert := func() *Summary {
		s, err := Images(context.Background(), src, out, ImageOptions{Options: Options{Shards: 16}})
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	convert()
	for b.Loop() {
		if s := convert(); s.Status != UpToDate {
			b.Fatal(s.Status)
		}
	}
}
