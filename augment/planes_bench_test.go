package augment

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkPlanes takes the photographs that the repository ships, stored with 420, from JPEG to
// JPEG at 224x224 and quality 95, in planes and in RGB, one step at a time and all together:
//
//	go test -run xxx -bench Planes ./augment
func BenchmarkPlanes(b *testing.B) {
	files, err := filepath.Glob("../testdata/demo/photos/*/*.jpg")
	if err != nil || len(files) == 0 {
		b.Fatal("no photographs", err)
	}
	spec := ResizeSpec{Square: 224, Antialias: true}
	for _, decoder := range []string{"auto", "go"} {
		c := newCodec(b, CodecOptions{Decoder: decoder})
		var images [][]byte
		var im, small Image
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := c.Decode(&im, data, DecodeOptions{Channels: 3}); err != nil {
				b.Fatal(err)
			}
			half, err := c.AppendJPEG(nil, &im, 90, "420")
			if err != nil {
				b.Fatal(err)
			}
			images = append(images, half)
		}
		var p, smallPlanes Planes
		var scratch Scratch
		var out []byte
		decode := func(data []byte) (err error) { _, err = c.Decode(&im, data, DecodeOptions{Channels: 3}); return err }
		render := func([]byte) error { return spec.Render(&small, &im, spec.Geometry(im.Width, im.Height), &scratch) }
		encode := func([]byte) (err error) { out, err = c.AppendJPEG(out[:0], &small, 95, "420"); return err }
		decodePlanes := func(data []byte) (err error) { _, err = c.DecodePlanes(&p, data, DecodeOptions{}); return err }
		renderPlanes := func([]byte) error {
			return spec.RenderPlanes(&smallPlanes, &p, spec.Geometry(p.Width, p.Height), "420", &scratch)
		}
		encodePlanes := func([]byte) (err error) { out, err = c.AppendJPEGPlanes(out[:0], &smallPlanes, 95); return err }
		for _, bench := range []struct {
			name  string
			steps []func([]byte) error
		}{
			{"check", []func([]byte) error{func(data []byte) (err error) { _, err = c.Check(data); return err }}},
			{"rgb/decode", []func([]byte) error{decode}},
			{"rgb/render", []func([]byte) error{render}},
			{"rgb/encode", []func([]byte) error{encode}},
			{"rgb/all", []func([]byte) error{decode, render, encode}},
			{"planes/decode", []func([]byte) error{decodePlanes}},
			{"planes/render", []func([]byte) error{renderPlanes}},
			{"planes/encode", []func([]byte) error{encodePlanes}},
			{"planes/all", []func([]byte) error{decodePlanes, renderPlanes, encodePlanes}},
		} {
			b.Run(decoder+"/"+bench.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					for _, data := range images {
						for _, step := range bench.steps {
							if err := step(data); err != nil {
								b.Fatal(err)
							}
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(images)), "us/picture")
			})
		}
	}
}
