package tfrecord

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

func made(t *testing.T, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// foreignFiles are files without records: the kind, a space, and the variant.
func foreignFiles(t *testing.T) map[string][]byte {
	t.Helper()
	zipped := func(name string) []byte {
		return made(t, func(w io.Writer) error {
			z := zip.NewWriter(w)
			f, err := z.Create(name)
			if err == nil {
				_, err = f.Write(make([]byte, 10_000))
			}
			return errors.Join(err, z.Close())
		})
	}
	im := image.NewPaletted(image.Rect(0, 0, 9, 9), color.Palette{color.Black, color.White})
	return map[string][]byte{
		"jpeg": made(t, func(w io.Writer) error { return jpeg.Encode(w, im, nil) }),
		"png":  made(t, func(w io.Writer) error { return png.Encode(w, im) }),
		"gif":  made(t, func(w io.Writer) error { return gif.Encode(w, im, nil) }),
		"bmp":  []byte("BM\x4e\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x02\x00\x00\x00"),
		"webp": []byte("RIFF\x24\x00\x00\x00WEBPVP8 \x18\x00\x00\x00"),
		"tiff": []byte("II*\x00\x08\x00\x00\x00\x0e\x00\x00\x01\x03\x00"), "tiff big-endian": []byte("MM\x00*\x00\x00\x00\x08\x00\x0e\x01\x00"),
		"zip": zipped("1.jpg"), "zip empty": made(t, func(w io.Writer) error { return zip.NewWriter(w).Close() }),
		"npz": zipped("x.npy"),
		"tar": made(t, func(w io.Writer) error {
			z := tar.NewWriter(w)
			return errors.Join(z.WriteHeader(&tar.Header{Name: "1.jpg"}), z.Close())
		}),
		"parquet": []byte("PAR1\x15\x04\x15\x10\x15\x14\x4c\x15"),
		"arrow":   []byte("ARROW1\x00\x00\xff\xff\xff\xff\x78\x00\x00\x00"),
		"npy":     []byte("\x93NUMPY\x01\x00v\x00{'descr': '<f8', "),
		"hdf5":    []byte("\x89HDF\r\n\x1a\n\x00\x00\x00\x00\x00\x08\x08\x00"),
		"lmdb":    []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\xde\xc0\xef\xbe\x01\x00\x00\x00"),
		"sqlite":  []byte("SQLite format 3\x00\x10\x00\x01\x01\x00"),
		"pdf":     []byte("%PDF-1.7\n%\xb5\xb5\xb5\xb5\n1 0 obj"),
		"xz":      []byte("\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46"),
		"bzip2":   []byte("BZh91AY&SY\x8d\x60\xa2\x4e"),
		"7z":      []byte("7z\xbc\xaf\x27\x1c\x00\x04\x9a\xd3\x14\x6b"),

		"json": []byte(`{"a": 1}` + "\n"), "json lines": []byte(strings.Repeat(`{"name": "x", "size": [1, 2]}`+"\n", 500)),
		"json list": []byte("[\n  1.5,\n  2\n]\n"), "json cut off": []byte(`{"name": "` + strings.Repeat("x", recognizeSize) + `"}`),
		"csv": []byte("name,size\n" + strings.Repeat("n,1\n", 50)), "csv one row": []byte("a;b;c\n1;2;3"),
		"csv tabs": []byte("\ufeffname\tsize\r\nn\t1\r\n"), "csv quotes": []byte("\"Smith, J.\",3\n\"Miller, A., Jr.\",4\n"),
		"csv cut off": []byte(strings.Repeat("x", recognizeSize-60) + ",b,c\n" + strings.Repeat("y", 50) + ",2," + strings.Repeat("3", 1000)),
		"text":        []byte("Some text, that is no table.\nAnd another line."), "text one line": []byte("a line of text"),
		"text that begins like zlib":          []byte("hb\x20" + strings.Repeat("text ", 100)),
		"text in another script":              []byte(strings.Repeat("ж", recognizeSize)),
		"text, whose last character is cut":   []byte("x" + strings.Repeat("ж", recognizeSize)),
		"text with brackets":                  []byte("[section]\nkey = value\n"),
		"json with a mark of the byte order ": []byte("\ufeff" + `{"key": "value"}`),
	}
}

func TestForeignFilesAreRecognized(t *testing.T) {
	covered := map[string]bool{}
	for name, data := range foreignFiles(t) {
		kind, _, _ := strings.Cut(strings.ReplaceAll(name, ",", ""), " ")
		covered[kind] = true
		for how, in := range map[string]io.Reader{"whole": bytes.NewReader(data), "byte by byte": iotest.OneByteReader(bytes.NewReader(data))} {
			_, err := readAll(NewReader(in, ReaderOptions{BufferSize: 64}))
			var f *ForeignError
			if !errors.As(err, &f) || f.Kind != kind || !strings.Contains(err.Error(), ", not a TFRecord file") {
				t.Errorf("%s, read %s: %v", name, how, err)
				continue
			}
			if e := faultOf(t, err); e.Record != 0 || e.Offset != 0 || e.Part != PartLength && e.Part != PartLengthCRC && e.Part != PartCompression {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, c := range compressed {
			squeezed := made(t, func(w io.Writer) error {
				z, err := newCompressor(w, c, 0)
				if err == nil {
					_, err = z.Write(data)
				}
				return errors.Join(err, z.Close())
			})
			_, err := readAll(NewReader(bytes.NewReader(squeezed), ReaderOptions{}))
			var f *ForeignError
			if !errors.As(err, &f) || f.Kind != kind || !strings.Contains(err.Error(), " compressed with "+c.String()+", not a") {
				t.Errorf("%s in %v: %v", name, c, err)
			}
		}
	}
	for _, f := range foreign {
		if !covered[f.kind] {
			t.Errorf("no file of kind %s", f.kind)
		}
	}
}

// TestDamageIsNotForeign: damaged TFRecord files, and files too short to identify, do not pass for
// another format.
func TestDamageIsNotForeign(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	data := file(t, WriterOptions{}, [][]byte{[]byte("name,size\n1,2\n"), bytes.Repeat([]byte("text,"), 200)})
	foreignOf := func(data []byte) (found *ForeignError) {
		if _, err := readAll(NewReader(bytes.NewReader(data), ReaderOptions{})); !errors.As(err, &found) {
			return nil
		}
		return found
	}
	for range 2000 {
		bad := bytes.Clone(data)
		for range 1 + rng.IntN(3) {
			bad[rng.IntN(20)] ^= 1 << rng.IntN(8)
		}
		bad = bad[:len(bad)-rng.IntN(len(bad))]
		if f := foreignOf(bad); f != nil {
			t.Fatalf("%q: %v", bad[:min(len(bad), 40)], f)
		}
	}
	for _, short := range []string{"", "x", "a,b\n1,2"} {
		_, err := readAll(NewReader(strings.NewReader(short), ReaderOptions{}))
		if foreignOf([]byte(short)) != nil || short != "" && !strings.Contains(err.Error(), "it may not be a TFRecord file") {
			t.Errorf("%q: %v", short, err)
		}
	}
	// Random bytes are unknown, or a format by chance: never a panic.
	for range 2000 {
		junk := make([]byte, rng.IntN(600))
		for i := range junk {
			junk[i] = byte(rng.UintN(256))
		}
		foreignOf(junk)
	}
}
