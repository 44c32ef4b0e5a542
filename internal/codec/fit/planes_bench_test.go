package fit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/imagefile"
	"github.com/tfrec/tfrec/internal/codec/workspace"
)

// BenchmarkPlanes takes the photographs that the repository ships, stored with 420, from JPEG to
// JPEG at 224x224 and quality 95, in planes and in RGB, one step at a time and all together:
//
//	go test -run xxx -bench Planes ./internal/codec/fit
//
// The pixels of an iteration are those of the photographs or, of steps that only encode, of
// 224x224.
func BenchmarkPlanes(b *testing.B) {
	files, err := filepath.Glob("../../../testdata/demo/photos/*/*.jpg")
	if err != nil || len(files) == 0 {
		b.Fatal("no photographs", err)
	}
	spec := ResizeSpec{Square: 224}
	for _, decoder := range []string{"auto", "go"} {
		c := newCodec(b, imagefile.CodecOptions{Decoder: decoder})
		type photo struct {
			jpeg                []byte
			im, small           bitmap.Image
			planes, smallPlanes bitmap.Planes
		}
		var scratch workspace.Scratch
		var out []byte
		decode := func(p *photo) (err error) {
			_, err = c.Decode(&p.im, p.jpeg, imagefile.DecodeOptions{Channels: 3})
			return err
		}
		render := func(p *photo) error {
			return spec.Render(&p.small, &p.im, spec.Geometry(p.im.Width, p.im.Height), &scratch)
		}
		encode := func(p *photo) (err error) { out, err = c.AppendJPEG(out[:0], &p.small, 95, "420"); return err }
		decodePlanes := func(p *photo) (err error) {
			_, err = c.DecodePlanes(&p.planes, p.jpeg, imagefile.DecodeOptions{})
			return err
		}
		renderPlanes := func(p *photo) error {
			return spec.RenderPlanes(&p.smallPlanes, &p.planes, spec.Geometry(p.planes.Width, p.planes.Height), "420", &scratch)
		}
		encodePlanes := func(p *photo) (err error) {
			out, err = c.AppendJPEGPlanes(out[:0], &p.smallPlanes, 95)
			return err
		}
		photos := make([]photo, len(files))
		large, small := 0, len(files)*224*224 // pixels
		for i, file := range files {
			p := &photos[i]
			if p.jpeg, err = os.ReadFile(file); err != nil {
				b.Fatal(err)
			}
			if err := decode(p); err != nil {
				b.Fatal(err)
			}
			if p.jpeg, err = c.AppendJPEG(nil, &p.im, 90, "420"); err != nil {
				b.Fatal(err)
			}
			for _, step := range []func(*photo) error{decode, render, decodePlanes, renderPlanes} {
				if err := step(p); err != nil {
					b.Fatal(err)
				}
			}
			large += p.im.Width * p.im.Height
		}
		for _, bench := range []struct {
			name   string
			pixels int
			steps  []func(*photo) error
		}{
			{"check", large, []func(*photo) error{func(p *photo) (err error) { _, err = c.Check(p.jpeg); return err }}},
			{"rgb/decode", large, []func(*photo) error{decode}},
			{"rgb/render", large, []func(*photo) error{render}},
			{"rgb/encode", small, []func(*photo) error{encode}},
			{"rgb/all", large, []func(*photo) error{decode, render, encode}},
			{"planes/decode", large, []func(*photo) error{decodePlanes}},
			{"planes/render", large, []func(*photo) error{renderPlanes}},
			{"planes/encode", small, []func(*photo) error{encodePlanes}},
			{"planes/all", large, []func(*photo) error{decodePlanes, renderPlanes, encodePlanes}},
		} {
			b.Run(decoder+"/"+bench.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					for i := range photos {
						for _, step := range bench.steps {
							if err := step(&photos[i]); err != nil {
								b.Fatal(err)
							}
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(photos)), "us/picture")
				b.ReportMetric(float64(bench.pixels), "pixels/op")
			})
		}
	}
}
