package tfrecord

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

// failing fails the n-th write, or writes only half of it without an error.
type failing struct {
	bytes.Buffer
	left  int
	err   error
	sizes []int
}

var errDiskFull = errors.New("the disk is full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left == 0 {
		n, _ := f.Buffer.Write(p[:len(p)/2])
		return n, f.err
	}
	f.left--
	f.sizes = append(f.sizes, len(p))
	return f.Buffer.Write(p)
}

func TestWriteErrorsAreSticky(t *testing.T) {
	for _, c := range []Compression{CompressionNone, CompressionGzip, CompressionZlib, CompressionZstd} {
		for n := range 4 {
			for _, give := range []error{errDiskFull, nil} {
				want := give
				if give == nil {
					want = io.ErrShortWrite
				}
				t.Run(fmt.Sprintf("%v/%d/%v", c, n, want), func(t *testing.T) {
					out := &failing{left: n, err: give}
					w, err := NewWriter(out, WriterOptions{Compression: c, BufferSize: 64})
					if err != nil {
						t.Fatal(err)
					}
					var first error
					for i := 0; i < 400 && first == nil; i++ {
						if first = w.WriteRecord(noise(3000)); first == nil && i%10 == 9 {
							first = w.Flush()
						}
					}
					if !errors.Is(first, want) {
						t.Fatalf("%v, want %v", first, want)
					}
					written := out.Len()
					for _, err := range []error{w.WriteRecord(nil), w.WriteFrames([]byte("x"), 1), w.Flush(), w.Close(), w.Close()} {
						if err != first {
							t.Errorf("later: %v", err)
						}
					}
					if out.Len() != written {
						t.Error("written after the error")
					}
				})
			}
		}
	}
}

func TestOneWriteABuffer(t *testing.T) {
	out := &failing{left: -1}
	w, err := NewWriter(out, WriterOptions{BufferSize: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for i := range 300 {
		p := noise(i % 40)
		want = AppendFrame(want, p)
		if err := w.WriteRecord(p); err != nil {
			t.Fatal(err)
		}
		if w.Offset() != int64(len(want)) || w.Records() != int64(i+1) {
			t.Fatalf("%d records to byte %d", w.Records(), w.Offset())
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Error("other bytes")
	}
	for i, n := range out.sizes[:len(out.sizes)-1] {
		if n != 1000 {
			t.Errorf("write %d has %d bytes", i, n)
		}
	}
}

// Compressors write little at a time; files get it in large pieces.
func TestCompressedFilesTakeFewWrites(t *testing.T) {
	for _, compression := range []Compression{CompressionGzip, CompressionZlib, CompressionZstd} {
		out := &failing{left: -1}
		w, err := NewWriter(out, WriterOptions{Compression: compression})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			if err := w.WriteRecord(noise(1000 + i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if most := out.Len()/compressedBuffer + 1; out.Len() < 1<<20 || len(out.sizes) > most {
			t.Errorf("%v: %d bytes in %d writes, want at most %d", compression, out.Len(), len(out.sizes), most)
		}
	}
}

func TestWriteFrames(t *testing.T) {
	var frames []byte
	for _, p := range payloads() {
		frames = AppendFrame(frames, p)
	}
	for _, size := range []int{64, 10_000, 0} {
		var out bytes.Buffer
		w, err := NewWriter(&out, WriterOptions{BufferSize: size})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteRecord([]byte("before")); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteFrames(frames, len(payloads())); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(NewReader(&out, ReaderOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		sameRecords(t, got, append([][]byte{[]byte("before")}, payloads()...))
		if w.Records() != int64(len(got)) {
			t.Errorf("%d records", w.Records())
		}
	}
}

func TestFlushMakesRecordsReadable(t *testing.T) {
	for _, c := range []Compression{CompressionNone, CompressionGzip, CompressionZlib, CompressionZstd} {
		var out bytes.Buffer
		w, err := NewWriter(&out, WriterOptions{Compression: c})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteRecord([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r := NewReader(bytes.NewReader(out.Bytes()), ReaderOptions{Compression: c})
		if p, err := r.Next(); err != nil || string(p) != "hello" {
			t.Errorf("%v: %q, %v", c, p, err)
		}
	}
}

func TestWriteAfterClose(t *testing.T) {
	w, err := NewWriter(io.Discard, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
	if err := w.WriteRecord(nil); err != ErrClosed {
		t.Error(err)
	}
}

func TestLevelsOutOfRange(t *testing.T) {
	for c, level := range map[Compression]int{CompressionNone: 1, CompressionGzip: 10, CompressionZlib: -1, CompressionZstd: 23} {
		if _, err := NewWriter(io.Discard, WriterOptions{Compression: c, Level: level}); err == nil {
			t.Errorf("%v takes level %d", c, level)
		}
	}
}
