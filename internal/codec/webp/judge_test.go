package webp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	judge "golang.org/x/image/webp"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// realFiles are the WebP files of the repository and of the larger set next to the checkout.
func realFiles(tb testing.TB) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	for _, dir := range []string{"../../../testdata/pictures", "../../../../shared/data/odd"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.webp"))
		if err != nil {
			tb.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			files[filepath.Base(name)] = data
		}
	}
	if len(files) < 5 {
		tb.Fatalf("%d WebP files", len(files))
	}
	return files
}

// judged decodes by x/image, whose panics count as errors.
func judged(data []byte) (m image.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errFormat
		}
	}()
	return judge.Decode(bytes.NewReader(data))
}

// pixelsOf are all samples of an image that are of it, not of the macroblocks beyond its edges.
func pixelsOf(m image.Image) (out []byte) {
	rows := func(pix []byte, stride, w, h int) {
		for y := range h {
			out = append(out, pix[y*stride:][:w]...)
		}
	}
	planes := func(m *image.YCbCr) {
		w, h := m.Rect.Dx(), m.Rect.Dy()
		rows(m.Y, m.YStride, w, h)
		rows(m.Cb, m.CStride, (w+1)/2, (h+1)/2)
		rows(m.Cr, m.CStride, (w+1)/2, (h+1)/2)
	}
	switch m := m.(type) {
	case *image.YCbCr:
		planes(m)
	case *image.NYCbCrA:
		planes(&m.YCbCr)
		rows(m.A, m.AStride, m.Rect.Dx(), m.Rect.Dy())
	case *image.NRGBA:
		rows(m.Pix, m.Stride, 4*m.Rect.Dx(), m.Rect.Dy())
	}
	return out
}

// announced is how many pixels a file announces at most.
func announced(data []byte) int {
	most := 0
	for _, id := range []string{"VP8 ", "VP8L", "VP8X"} {
		for rest := data; ; {
			at := bytes.Index(rest, []byte(id))
			if at < 0 || at+18 > len(rest) {
				break
			}
			body := rest[at+8:]
			rest = body
			var w, h int
			switch id {
			case "VP8 ":
				w, h = int(body[6])|int(body[7]&63)<<8, int(body[8])|int(body[9]&63)<<8
			case "VP8L":
				w, h, _ = losslessSize(body)
			case "VP8X":
				w, h = 1+(int(body[4])|int(body[5])<<8|int(body[6])<<16), 1+(int(body[7])|int(body[8])<<8|int(body[9])<<16)
			}
			most = max(most, w*h)
		}
	}
	return most
}

// impossible says that a partition began as none can.
func impossible(d *Decoder) bool {
	return d.lossy.first.impossible() || slices.ContainsFunc(d.lossy.parts[:], func(r boolReader) bool { return r.impossible() })
}

// closed shortens the lengths in a file to what is there.
func closed(data []byte) []byte {
	if len(data) < riffHeader {
		return data
	}
	out := bytes.Clone(data[:riffHeader])
	for rest := data[riffHeader:]; len(rest) >= 8; {
		n := min(int(binary.LittleEndian.Uint32(rest[4:])), len(rest)-8)
		out = binary.LittleEndian.AppendUint32(append(out, rest[:4]...), uint32(n))
		out = append(append(out, rest[8:8+n]...), make([]byte, n&1)...)
		rest = rest[min(len(rest), 8+n+n&1):]
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out
}

// mustAgree decodes with and without assembly and by x/image. All accept the file and give the same
// pixels, or all refuse it. It reports whether they accept it. One that ends before its lengths say,
// which x/image accepts, is refused, and then judged with other lengths.
func mustAgree(t *testing.T, d *Decoder, what string, data []byte) bool {
	t.Helper()
	if _, err := Content(data); err != nil {
		if _, err := d.Decode(data); err == nil {
			t.Fatalf("%s was accepted", what)
		}
		what, data = what+", with lengths to match", closed(data)
	}
	want, wantErr := judged(data)
	if wantErr == nil && want.Bounds().Empty() {
		return false // x/image decodes VP8 without pixels; here it is an error
	}
	decode := func(how string) {
		d.lossy.first, d.lossy.parts = boolReader{}, [8]boolReader{}
		m, err := d.Decode(data)
		if err != nil && impossible(d) || errors.Is(err, errStrict) {
			return
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s%s: %v, and x/image says %v", what, how, err, wantErr)
		}
		if err != nil {
			return
		}
		if m.Bounds() != want.Bounds() || m.ColorModel() != want.ColorModel() {
			t.Fatalf("%s%s: %v, %T for %v, %T", what, how, m.Bounds(), m, want.Bounds(), want)
		}
		got, expected := pixelsOf(m), pixelsOf(want)
		for i := range expected {
			if got[i] != expected[i] {
				t.Fatalf("%s%s: %d for %d at sample %d of %T of %v", what, how, got[i], expected[i], i, m, m.Bounds())
			}
		}
	}
	decode("")
	withoutAssembly(func() { decode(", without assembly") })
	return wantErr == nil
}

// TestReal: real files, whole, cut at any byte, and damaged.
func TestReal(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(1, 2))
	var d Decoder
	accepted, refused := 0, 0
	count := func(ok bool) {
		if ok {
			accepted++
		} else {
			refused++
		}
	}
	files := realFiles(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		count(mustAgree(t, &d, name, data))
		if len(data) > 30000 {
			continue
		}
		for range 12 {
			n := r.IntN(len(data))
			count(mustAgree(t, &d, name+", cut", data[:n]))
		}
		for range 30 {
			damaged := bytes.Clone(data)
			at := 12 + r.IntN(len(data)-12)
			if r.IntN(2) == 0 {
				at = 12 + r.IntN(min(100, len(data)-12))
			}
			damaged[at] ^= 1 << r.IntN(8)
			if announced(damaged) > 1<<20 {
				continue
			}
			count(mustAgree(t, &d, name+", damaged", damaged))
		}
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
	if accepted < 50 || refused < 50 {
		t.Errorf("%d accepted, %d refused: too few to prove anything", accepted, refused)
	}
}

// TestGenerated: images of every kind, and what damage makes of them.
func TestGenerated(t *testing.T) {
	race.Skip(t)
	r := rand.New(rand.NewPCG(3, 4))
	var d Decoder
	var accepted [3]int
	for i := range 900 {
		data := generate(r, i%3)
		if mustAgree(t, &d, "generated", data) {
			accepted[i%3]++
		}
		for range 2 {
			damaged := bytes.Clone(data)
			damaged[20+r.IntN(len(data)-20)] ^= 1 << r.IntN(8)
			if announced(damaged) <= 1<<20 {
				mustAgree(t, &d, "generated and damaged", damaged)
			}
		}
		mustAgree(t, &d, "generated and cut", data[:len(data)-r.IntN(len(data)/4)])
	}
	t.Logf("%d accepted of 300 each", accepted)
	for kind, n := range accepted {
		if n < 150 {
			t.Errorf("%d of kind %d were accepted: too few to prove anything", n, kind)
		}
	}
}

// FuzzJudge is TestReal for any bytes.
func FuzzJudge(f *testing.F) {
	for _, data := range realFiles(f) {
		if len(data) < 10000 {
			f.Add(data)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for kind := range 3 {
		f.Add(generate(r, kind))
	}
	var d Decoder
	f.Fuzz(func(t *testing.T, data []byte) {
		if announced(data) <= 1<<16 {
			mustAgree(t, &d, "fuzzed", data)
		}
	})
}

// TestMemoryIsReused: the second of two images of a size takes no memory.
func TestMemoryIsReused(t *testing.T) {
	race.Skip(t)
	for name, data := range realFiles(t) {
		var d Decoder
		if _, err := d.Decode(data); err != nil {
			continue
		}
		if n := testing.AllocsPerRun(3, func() { d.Decode(data) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"pillow-hopper_orientation_6.webp", "goimage-blue-purple-pink.lossless.webp", "pillow-transparent.webp"} {
		data := realFiles(b)[name]
		m, err := judged(data)
		if err != nil {
			b.Fatal(err)
		}
		pixels := int64(m.Bounds().Dx() * m.Bounds().Dy())
		b.Run(name+"/tfrec", func(b *testing.B) {
			var d Decoder
			b.SetBytes(pixels)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/x-image", func(b *testing.B) {
			b.SetBytes(pixels)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := judged(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
