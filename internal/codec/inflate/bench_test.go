package inflate

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"testing"

	fast "github.com/klauspost/compress/zlib"
)

// BenchmarkReader decompresses data like those of a photograph's PNG, text and noise, with
// compress/zlib's and klauspost/compress's readers beside this one.
func BenchmarkReader(b *testing.B) {
	all := contents(rand.New(rand.NewPCG(1, 1)))
	for _, name := range []string{"residuals", "skewed", "text", "zeros"} {
		content := all[name]
		var packed bytes.Buffer
		z, _ := zlib.NewWriterLevel(&packed, flate.DefaultCompression)
		z.Write(content)
		z.Close()
		b.Run(name+"/inflate", func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			var r Reader
			for b.Loop() {
				data := Bytes(packed.Bytes())
				r.Reset(&data, Zlib)
				if n, err := io.Copy(io.Discard, &r); err != nil || n != int64(len(content)) {
					b.Fatal(n, err)
				}
			}
		})
		std, err := zlib.NewReader(bytes.NewReader(packed.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		theirs, err := fast.NewReader(bytes.NewReader(packed.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		for peer, r := range map[string]io.ReadCloser{"compress": std, "klauspost": theirs} {
			b.Run(name+"/"+peer, func(b *testing.B) {
				b.SetBytes(int64(len(content)))
				b.ReportAllocs()
				for b.Loop() {
					if err := r.(zlib.Resetter).Reset(bytes.NewReader(packed.Bytes()), nil); err != nil {
						b.Fatal(err)
					}
					if n, err := io.Copy(io.Discard, r); err != nil || n != int64(len(content)) {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}
