package tfrecord

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// benchFile writes a plain file of the given payload size and returns its path
// and number of records.
func benchFile(b *testing.B, size, total int) (path string, records int) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "x.tfrecord")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w, err := NewWriter(f, WriterOptions{})
	if err != nil {
		b.Fatal(err)
	}
	payload := noise(size)
	for records = 0; records*(size+Overhead) < total; records++ {
		payload[0]++
		if err := w.WriteRecord(payload); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return path, records
}

func BenchmarkReader(b *testing.B) {
	for _, size := range []int{184, 100_000} {
		for _, check := range []Checksum{ChecksumFull, ChecksumLength, ChecksumOff} {
			name := fmt.Sprintf("%dB/%s", size, []string{"full", "length", "off"}[check])
			b.Run(name, func(b *testing.B) {
				path, records := benchFile(b, size, 64<<20)
				f, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				defer f.Close()
				r := NewReader(f, ReaderOptions{Checksum: check})
				b.SetBytes(int64(records * (size + Overhead)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := f.Seek(0, io.SeekStart); err != nil {
						b.Fatal(err)
					}
					r.Reset(f, path)
					n := 0
					for _, err := range r.All() {
						if err != nil {
							b.Fatal(err)
						}
						n++
					}
					if n != records {
						b.Fatalf("%d records of %d", n, records)
					}
				}
				b.ReportMetric(float64(b.N)*float64(records)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}

// BenchmarkReaderCompressed reads records that are all the same, and such with values of their own.
func BenchmarkReaderCompressed(b *testing.B) {
	same := bytes.Repeat([]byte("a record like any other, "), 8)[:184]
	r := rand.New(rand.NewPCG(1, 2))
	for _, content := range []string{"same", "values"} {
		for _, c := range []Compression{CompressionGzip, CompressionZlib, CompressionZstd} {
			b.Run(fmt.Sprintf("%s/%v", content, c), func(b *testing.B) {
				var file bytes.Buffer
				w, err := NewWriter(&file, WriterOptions{Compression: c})
				if err != nil {
					b.Fatal(err)
				}
				for i := range 50_000 {
					payload := same
					if content == "values" {
						payload = fmt.Appendf(nil, "record %d of user %d: %x, %.4f, %.4f, %s", i, r.IntN(5000), r.Uint64(), r.NormFloat64(), r.NormFloat64(), same[:40])
					}
					if err := w.WriteRecord(payload); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
				r := NewReader(nil, ReaderOptions{})
				b.SetBytes(w.Offset())
				b.ReportAllocs()
				for b.Loop() {
					r.Reset(bytes.NewReader(file.Bytes()), "")
					for _, err := range r.All() {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	for _, size := range []int{184, 100_000} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			f, err := os.Create(filepath.Join(b.TempDir(), "x.tfrecord"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			payload := noise(size)
			records := 64 << 20 / (size + Overhead)
			b.SetBytes(int64(records * (size + Overhead)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Seek(0, io.SeekStart); err != nil {
					b.Fatal(err)
				}
				w, err := NewWriter(f, WriterOptions{})
				if err != nil {
					b.Fatal(err)
				}
				for range records {
					if err := w.WriteRecord(payload); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(records)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// buildRow builds 32 features like those of a table row.
func buildRow(b *Builder, keys []string, k int) {
	b.Reset()
	for i, key := range keys {
		if i%2 == 0 {
			b.Float(key, float32(k+i))
		} else {
			b.Int64(key, int64(k*i))
		}
	}
}

func BenchmarkBuilder(b *testing.B) {
	for _, order := range []string{"sorted", "unsorted"} {
		b.Run("32features/"+order, func(b *testing.B) {
			var keys []string
			for i := range 32 {
				if order == "unsorted" {
					i = i * 13 % 32
				}
				keys = append(keys, fmt.Sprintf("column%02d", i))
			}
			var e Builder
			var frame []byte
			b.ReportAllocs()
			k := 0
			for b.Loop() {
				k++
				buildRow(&e, keys, k)
				var mark int
				frame, mark = BeginFrame(frame[:0])
				frame = EndFrame(e.Append(frame), mark)
			}
			b.SetBytes(int64(len(frame)))
			b.ReportMetric(float64(b.N)*32/b.Elapsed().Seconds(), "features/s")
		})
	}
	b.Run("picture", func(b *testing.B) {
		var e Builder
		var frame []byte
		image := noise(100_000)
		b.SetBytes(int64(len(image)))
		b.ReportAllocs()
		for b.Loop() {
			e.Reset()
			e.Int64("image/class/label", 7)
			e.Bytes("image/encoded", image)
			e.String("image/format", "jpeg")
			var mark int
			frame, mark = BeginFrame(frame[:0])
			frame = EndFrame(e.Append(frame), mark)
		}
	})
}

func BenchmarkExampleParse(b *testing.B) {
	for _, order := range []string{"sorted", "unsorted"} {
		b.Run("32features/"+order, func(b *testing.B) {
			var keys []string
			for i := range 32 {
				keys = append(keys, fmt.Sprintf("column%02d", i))
			}
			var e Builder
			buildRow(&e, keys, 1000)
			record := e.Append(nil)
			if order == "unsorted" {
				record = rotateEntries(b, record, 11)
			}
			var x Example
			b.SetBytes(int64(len(record)))
			b.ReportAllocs()
			for b.Loop() {
				if err := x.Parse(record); err != nil {
					b.Fatal(err)
				}
			}
			if x.Len() != len(keys) {
				b.Fatalf("%d features", x.Len())
			}
			b.ReportMetric(float64(b.N)*32/b.Elapsed().Seconds(), "features/s")
		})
	}
}
