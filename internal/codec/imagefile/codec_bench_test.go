package imagefile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
)

// BenchmarkCodecDecode decodes the photographs that the repository ships, the check for damage
// included: to full size, and to no less than 224 pixels on both sides.
func BenchmarkCodecDecode(b *testing.B) {
	files, err := filepath.Glob("../../../testdata/demo/photos/*/*.jpg")
	if err != nil || len(files) == 0 {
		b.Fatal("no photographs", err)
	}
	var images [][]byte
	var bytes int64
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		images = append(images, data)
		bytes += int64(len(data))
	}
	for _, decoder := range []string{"auto", "go"} {
		for name, o := range map[string]DecodeOptions{
			"full": {Channels: 3},
			"224":  {Channels: 3, MinWidth: 224, MinHeight: 224},
		} {
			b.Run(decoder+"/"+name, func(b *testing.B) {
				c := newCodec(b, CodecOptions{Decoder: decoder})
				var im bitmap.Image
				b.SetBytes(bytes)
				b.ReportAllocs()
				for b.Loop() {
					for _, data := range images {
						if _, err := c.Decode(&im, data, o); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(b.N)*float64(len(images))/b.Elapsed().Seconds(), "pictures/s")
			})
		}
	}
}
