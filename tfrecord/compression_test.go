package tfrecord

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

var compressed = []Compression{CompressionGzip, CompressionZlib, CompressionZstd}

func TestCompressionsReadBack(t *testing.T) {
	for _, c := range append([]Compression{CompressionNone}, compressed...) {
		for _, level := range []int{0, 1, 5, 9, 22} {
			if level > 0 && c == CompressionNone || level > 9 && c != CompressionZstd {
				continue
			}
			t.Run(fmt.Sprintf("%v/%d", c, level), func(t *testing.T) {
				for _, records := range [][][]byte{nil, {nil}, payloads()} {
					data := file(t, WriterOptions{Compression: c, Level: level}, records)
					for _, ask := range []Compression{CompressionAuto, c} {
						r := NewReader(bytes.NewReader(data), ReaderOptions{Compression: ask})
						got, err := readAll(r)
						if err != nil {
							t.Fatal(err)
						}
						sameRecords(t, got, records)
						if r.Compression() != c {
							t.Errorf("recognised as %v", r.Compression())
						}
						r.Close()
					}
				}
			})
		}
	}
}

func TestCompressedFilesMayBeConcatenated(t *testing.T) {
	for _, c := range compressed {
		data := file(t, WriterOptions{Compression: c}, payloads())
		data = append(data, file(t, WriterOptions{Compression: c}, nil)...)
		data = append(data, file(t, WriterOptions{Compression: c}, payloads())...)
		got, err := readAll(NewReader(bytes.NewReader(data), ReaderOptions{}))
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		sameRecords(t, got, append(payloads(), payloads()...))

		_, err = readAll(NewReader(bytes.NewReader(append(data, "rubbish that is no stream"...)), ReaderOptions{}))
		want := fault{2 * int64(len(payloads())), 2 * int64(len(file(t, WriterOptions{}, payloads()))), PartCompression}
		if f := faultOf(t, err); f != want {
			t.Errorf("%v: rubbish behind: %+v, want %+v: %v", c, f, want, err)
		}
	}
}

// TestCompressedCuts cuts compressed files at every byte.
func TestCompressedCuts(t *testing.T) {
	records := [][]byte{[]byte("hello"), nil, noise(70), bytes.Repeat([]byte("end"), 50)}
	for _, c := range compressed {
		data := file(t, WriterOptions{Compression: c}, records)
		for n := 1; n < len(data); n++ {
			for _, ask := range []Compression{CompressionAuto, c} {
				got, err := readAll(NewReader(bytes.NewReader(data[:n]), ReaderOptions{Compression: ask}))
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("%v cut at %d of %d: %v", c, n, len(data), err)
				}
				if len(got) > len(records) {
					t.Fatalf("%d records", len(got))
				}
				sameRecords(t, got, records[:len(got)])
				// Without its full magic number, it is a truncated plain file.
				if f := faultOf(t, err); f.Part != PartCompression && (n > 4 || ask != CompressionAuto) {
					t.Errorf("%v cut at %d of %d: %+v", c, n, len(data), f)
				}
			}
		}
		if _, err := readAll(NewReader(bytes.NewReader(nil), ReaderOptions{Compression: c})); err != nil {
			t.Errorf("%v: an empty file: %v", c, err)
		}
	}
}

// TestCompressedFlips flips every bit of compressed files: the result is an error or the same
// records, since headers have unused bits.
func TestCompressedFlips(t *testing.T) {
	records := [][]byte{[]byte("hello"), nil, noise(70), bytes.Repeat([]byte("end"), 50)}
	for _, c := range compressed {
		data := file(t, WriterOptions{Compression: c}, records)
		r := NewReader(nil, ReaderOptions{})
		for bit := range 8 * len(data) {
			bad := bytes.Clone(data)
			bad[bit/8] ^= 1 << (bit % 8)
			r.Reset(bytes.NewReader(bad), "")
			got, err := readAll(r)
			if err != nil {
				faultOf(t, err)
				got = append(got, records[len(got):]...)
			}
			sameRecords(t, got, records)
		}
	}
}

func TestDetection(t *testing.T) {
	// A record as long as the magic bytes of zlib, or of gzip with more.
	zlibLength := file(t, WriterOptions{}, [][]byte{noise(0x0178), nil})
	gzipLength := appendHeader(nil, 0x00088b1f)
	damaged := bytes.Clone(zlibLength)
	damaged[9] ^= 1
	for _, c := range []struct {
		name string
		head []byte
		want Compression
	}{
		{"empty", nil, CompressionNone},
		{"plain", file(t, WriterOptions{}, [][]byte{[]byte("x")}), CompressionNone},
		{"plain, as long as zlib's magic", zlibLength, CompressionNone},
		{"the same, damaged", damaged, CompressionNone},
		{"plain, as long as gzip's magic", gzipLength, CompressionNone},
		{"gzip", []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1, 2}, CompressionGzip},
		{"gzip, cut", []byte{0x1f, 0x8b, 8}, CompressionGzip},
		{"gzip, cut in its magic", []byte{0x1f, 0x8b}, CompressionNone},
		{"zlib", file(t, WriterOptions{Compression: CompressionZlib}, [][]byte{nil}), CompressionZlib},
		{"zlib, cut", []byte{0x78, 0x9c}, CompressionZlib},
		{"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 4, 0, 1, 0, 0, 0, 0, 0}, CompressionZstd},
		{"zstd, skippable", []byte{0x5f, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 0, 0, 0, 0}, CompressionZstd},
		{"text", []byte("not a record at all"), CompressionNone},
	} {
		if got := detect(c.head[:min(len(c.head), detectSize)]); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestCompressionNames(t *testing.T) {
	for c := CompressionAuto; c <= CompressionZstd; c++ {
		if got, err := ParseCompression(c.String()); err != nil || got != c {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
	for _, name := range []string{"", "GZIP", "bzip2"} {
		if _, err := ParseCompression(name); !errors.Is(err, ErrUnknownCompression) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if s := Compression(9).String(); s != "Compression(9)" {
		t.Error(s)
	}
	if _, err := NewWriter(nil, WriterOptions{Compression: 9}); !errors.Is(err, ErrUnknownCompression) {
		t.Error(err)
	}
	_, err := NewReader(strings.NewReader("x"), ReaderOptions{Compression: 9}).Next()
	if !errors.Is(err, ErrUnknownCompression) || faultOf(t, err).Part != PartCompression {
		t.Error(err)
	}
}

func TestCompressedBytesRepeat(t *testing.T) {
	for _, c := range compressed {
		want := file(t, WriterOptions{Compression: c}, payloads())
		var frames []byte
		for _, p := range payloads() {
			frames = AppendFrame(frames, p)
		}
		for _, cut := range []int{1, 3, 7, len(payloads())} {
			var out bytes.Buffer
			w, err := NewWriter(&out, WriterOptions{Compression: c})
			if err != nil {
				t.Fatal(err)
			}
			// The same stream, written in other chunks.
			for at, n := 0, 0; at < len(frames); n++ {
				end := min(len(frames), at+len(frames)/cut+1)
				if err := w.WriteFrames(frames[at:end], 1); err != nil {
					t.Fatal(err)
				}
				at = end
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%v in %d pieces: other bytes", c, cut)
			}
		}
	}
}
