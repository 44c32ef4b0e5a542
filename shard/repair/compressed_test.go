package repair

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// readable returns what other readers get from a stream before its fault.
func readable(c tfrecord.Compression, data []byte) []byte {
	var r io.Reader
	var err error
	switch c {
	case tfrecord.CompressionGzip:
		r, err = gzip.NewReader(bytes.NewReader(data))
	case tfrecord.CompressionZlib:
		r, err = zlib.NewReader(bytes.NewReader(data))
	default:
		r, err = zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
	}
	if err != nil {
		return nil
	}
	got, _ := io.ReadAll(r)
	return got
}

var allCompressions = []tfrecord.Compression{tfrecord.CompressionGzip, tfrecord.CompressionZlib, tfrecord.CompressionZstd}

// half returns data that compresses to about half its size.
func half(data []byte) []byte {
	b := bytes.Clone(data)
	for i := range b {
		b[i] &= 0x0f
	}
	return b
}

// framedText returns a file of compressible records.
func framedText(sizes ...int) (data []byte, frames []settest.Frame) {
	plain, frames := settest.Framed(sizes...)
	for i, record := range payloads(plain, frames) {
		frames[i].Offset = len(data)
		data = tfrecord.AppendFrame(data, half(record))
	}
	return data, frames
}

func TestRepairOfCompressedFilesThatWereCut(t *testing.T) {
	data, frames := framedText(100, 80_000, 30, 100_000, 4000, 50)
	for _, c := range allCompressions {
		whole := settest.Compressed(t, c, data)
		for _, cut := range []int{len(whole) - 1, len(whole) - 9, len(whole) / 2, len(whole) / 5, 100} {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
			settest.PutFile(t, in, whole[:cut])
			got := readable(c, whole[:cut])
			want := slices.DeleteFunc(slices.Clone(frames), func(f settest.Frame) bool { return f.Offset+f.Size > len(got) })
			report, err := Copy(context.Background(), in, out, Options{})
			if len(want) == 0 {
				continue
			}
			if err != nil {
				t.Errorf("%v cut at %d: %v", c, cut, err)
				continue
			}
			if saved := settest.RecordsOf(t, out); !slices.EqualFunc(saved, payloads(data, want), bytes.Equal) {
				t.Errorf("%v cut at %d: %d records, want %d", c, cut, len(saved), len(want))
			}
			if report.Status != "repaired" || len(report.Damage) == 0 || report.RecordsLostExact {
				t.Errorf("%v cut at %d: %+v", c, cut, report)
			}
		}
	}
}

// Zeros after the last gzip member are padding, and no damage.
func TestRepairOfPaddedGzip(t *testing.T) {
	data, frames := framedText(100, 20_000, 30)
	whole := settest.Compressed(t, tfrecord.CompressionGzip, data)
	for _, zeros := range []int{1, 4096, 100_000} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
		settest.PutFile(t, in, append(bytes.Clone(whole), make([]byte, zeros)...))
		report, err := Copy(context.Background(), in, out, Options{})
		settest.Check(t, err)
		if report.Status != "clean" || len(report.Damage) > 0 {
			t.Errorf("%d zeros: %+v", zeros, report)
		}
		settest.PutFile(t, in, append(append(bytes.Clone(whole), make([]byte, zeros)...), whole...))
		report, err = Copy(context.Background(), in, filepath.Join(dir, "c.tfrecord"), Options{})
		settest.Check(t, err)
		if saved := settest.RecordsOf(t, filepath.Join(dir, "c.tfrecord")); len(saved) != 2*len(frames) || len(report.Damage) != 1 || report.Damage[0].Bytes != int64(zeros) {
			t.Errorf("%d zeros between members: %d records, %+v", zeros, len(saved), report)
		}
	}
}

func TestRepairGoesOnInTheNextStream(t *testing.T) {
	one, frames1 := framedText(100, 50_000, 30)
	two, frames2 := framedText(77, 60_000, 5)
	for _, c := range allCompressions {
		first := settest.Compressed(t, c, one)
		all := append(bytes.Clone(first), settest.Compressed(t, c, two)...)
		for name, damage := range map[string]func([]byte) []byte{
			"first header":           func(b []byte) []byte { b[1] ^= 0x5a; return b },
			"middle of the first":    func(b []byte) []byte { clear(b[len(first)/2 : len(first)/2+40]); return b },
			"end of the first":       func(b []byte) []byte { clear(b[len(first)-12 : len(first)]); return b },
			"without part of it":     func(b []byte) []byte { return slices.Delete(b, len(first)/2, len(first)/2+7) },
			"the second's beginning": func(b []byte) []byte { b[len(first)] ^= 0x5a; return b },
		} {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")
			settest.PutFile(t, in, damage(bytes.Clone(all)))
			report, err := Copy(context.Background(), in, out, Options{Compression: c})
			if err != nil {
				t.Errorf("%v, %s: %v", c, name, err)
				continue
			}
			saved := settest.RecordsOf(t, out)
			part := payloads(two, frames2)
			if name == "the second's beginning" {
				part = payloads(one, frames1)
			}
			if i := slices.IndexFunc(saved, func(r []byte) bool { return bytes.Equal(r, part[0]) }); i < 0 || len(saved) < i+3 || !slices.EqualFunc(saved[i:i+3], part, bytes.Equal) {
				t.Errorf("%v, %s: %d records, want those of the other stream", c, name, len(saved))
			}
			if report.Status != "repaired" {
				t.Errorf("%v, %s: %+v", c, name, report)
			}
		}
	}
}

func TestRepairOfACompressedFilesEveryByte(t *testing.T) {
	data, frames := framedText(100, 700, 30, 5)
	dir := t.TempDir()
	for _, c := range allCompressions {
		whole := settest.Compressed(t, c, data)
		for i := range whole {
			if i > 40 && i < len(whole)-12 && i%16 != 0 {
				continue
			}
			b := bytes.Clone(whole)
			b[i] ^= 0x20
			path := filepath.Join(dir, fmt.Sprintf("%v%d.tfrecord", c, i))
			settest.Check(t, os.WriteFile(path, b, 0o644))
			got := salvageFile(t, path, c)
			readable := readable(c, b)
			for _, f := range frames {
				// Every record that others can read must be there.
				if f.Offset+f.Size <= len(readable) && bytes.Equal(readable[f.Offset:f.Offset+f.Size], data[f.Offset:f.Offset+f.Size]) {
					record := data[f.Offset+tfrecord.HeaderSize : f.Offset+f.Size-tfrecord.FooterSize]
					if !slices.ContainsFunc(got, func(r []byte) bool { return bytes.Equal(r, record) }) {
						t.Errorf("%v, byte %d: the record at %d is not saved", c, i, f.Offset)
					}
				}
			}
			for _, r := range got {
				if !slices.ContainsFunc(payloads(data, frames), func(p []byte) bool { return bytes.Equal(r, p) }) {
					t.Errorf("%v, byte %d: a record that never was", c, i)
				}
			}
		}
	}
}

// salvageFile salvages a compressed file, and requires a fault of it to be reported.
func salvageFile(t *testing.T, path string, c tfrecord.Compression) (got [][]byte) {
	t.Helper()
	f, err := os.Open(path)
	settest.Check(t, err)
	defer f.Close()
	in := heldFile{context.Background(), f, nil}
	o := &Options{MaxDamage: 1000}
	whole, err := scanOf(in, c, o)
	settest.Check(t, err)
	if whole.fault == nil { // irrelevant bits, such as the time in a gzip header
		return settest.RecordsOf(t, path)
	}
	s := &salvage{o: o, want: -1, lose: func(Damage, io.ReaderAt) error { return nil }}
	s.give = func(record []byte) error {
		got = append(got, bytes.Clone(record))
		return nil
	}
	temp, err := os.CreateTemp(t.TempDir(), "")
	settest.Check(t, err)
	defer temp.Close()
	st, err := f.Stat()
	settest.Check(t, err)
	settest.Check(t, s.compressed(in, st.Size(), c, whole.fault, temp))
	if len(s.damage) == 0 {
		t.Errorf("%s: nothing is said of %v", path, whole.fault)
	}
	return got
}
