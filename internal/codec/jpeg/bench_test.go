package jpeg

import (
	"path/filepath"
	"testing"
)

// photographs are those that the repository ships, with their headers.
func photographs(b testing.TB) (list [][]byte, headers []*Header, bytes int64) {
	files, err := filepath.Glob("../../../testdata/demo/photos/*/*.jpg")
	if err != nil || len(files) == 0 {
		b.Fatal("no photographs", err)
	}
	for _, file := range files {
		data := read(b, file)
		list, headers = append(list, data), append(headers, header(b, data))
		bytes += int64(len(data))
	}
	return list, headers, bytes
}

// BenchmarkCheck is the walk over the entropy-coded data alone.
func BenchmarkCheck(b *testing.B) {
	list, headers, n := photographs(b)
	progressive := testImage(b, "go-video-001.separate.dc.progression.jpeg")
	b.Run("sequential", func(b *testing.B) { benchmarkCheck(b, list, headers, n) })
	b.Run("progressive", func(b *testing.B) {
		benchmarkCheck(b, [][]byte{progressive}, []*Header{header(b, progressive)}, int64(len(progressive)))
	})
}

func benchmarkCheck(b *testing.B, list [][]byte, headers []*Header, bytes int64) {
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		for i, data := range list {
			if err := Check(data, headers[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkDecode decodes by each backend, to RGB at full size, and finds damage.
func BenchmarkDecode(b *testing.B) {
	list, headers, n := photographs(b)
	var pix []byte
	for name, s := range backends(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				for i, data := range list {
					h := headers[i]
					if need := h.Width * h.Height * 3; len(pix) < need {
						pix = make([]byte, need)
					}
					if err := s.Decode(pix, h.Width*3, data, h, Request{Format: RGB, Denom: 1}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkAppend encodes 224x224 pixels at quality 95, 4:2:0.
func BenchmarkAppend(b *testing.B) {
	data := read(b, mustGlob(b, "../../../testdata/demo/photos/*/*.jpg"))
	h := header(b, data)
	p := Pixels{Pix: decodeWith(b, ownSet, data, Request{Format: RGB, Denom: 1}), Width: 224, Height: 224, Stride: h.Width * 3, Format: RGB}
	for name, e := range encoders() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(224 * 224 * 3)
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				var err error
				if out, err = e.append(out[:0], p, 95, Sub420); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// mustGlob gives the first photograph that is 224 pixels or more on both sides.
func mustGlob(b *testing.B, pattern string) string {
	files, err := filepath.Glob(pattern)
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		if h := header(b, read(b, file)); h.Width >= 224 && h.Height >= 224 {
			return file
		}
	}
	b.Fatal("no photograph is large enough")
	return ""
}
