package inflate

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// members are a gzip file of several members, headers of all kinds among them, and its content.
func members(r *rand.Rand, most int) (file, content []byte) {
	var out bytes.Buffer
	for range 1 + r.IntN(4) {
		z := gzip.NewWriter(&out)
		if r.IntN(2) == 0 {
			z.Name, z.Comment, z.Extra = "a name", "a comment", bytes.Repeat([]byte{7}, r.IntN(300))
		}
		part := make([]byte, r.IntN(most))
		for i := range part {
			part[i] = byte(r.IntN(1 + r.IntN(20)))
		}
		z.Write(part)
		z.Close()
		content = append(content, part...)
	}
	if r.IntN(2) == 0 { // a header with a checksum, and an empty stream
		header := []byte{0x1F, 0x8B, 8, gzipChecksum, 0, 0, 0, 0, 0, 255}
		header = binary.LittleEndian.AppendUint16(header, uint16(crc32.ChecksumIEEE(header)))
		out.Write(append(header, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0))
	}
	return out.Bytes(), content
}

// TestGzip reads whole files, cut ones and damaged ones as compress/gzip does.
func TestGzip(t *testing.T) { eachDecoder(t, testGzip) }

func testGzip(t *testing.T) {
	race.Skip(t)
	r := torture.Rand(t)
	for i := range 100 {
		file, content := members(r, []int{10, 1000, 100_000}[i%3])
		if got, err := checkGzip(t, file, 1+r.IntN(5000)); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%d bytes, want %d; %v", len(got), len(content), err)
		}
		checkGzip(t, file[:r.IntN(len(file))], 1+r.IntN(100))
		file[r.IntN(len(file))] ^= byte(1 << r.IntN(8))
		checkGzip(t, file, 1+r.IntN(100))
	}
}

// checkGzip compares with compress/gzip.
func checkGzip(t *testing.T, data []byte, limit int) ([]byte, error) {
	t.Helper()
	var want []byte
	z, wantErr := gzip.NewReader(bytes.NewReader(data))
	if wantErr == nil {
		want, wantErr = readAll(z, 1<<20)
	} else if wantErr == io.EOF && len(data) == 0 {
		wantErr = nil
	}
	var r Reader
	r.Reset(&pieces{data: data, r: rand.New(rand.NewPCG(1, 2)), limit: limit}, Gzip)
	got, err := readAll(&r, 1<<20)
	cutName := errors.Is(err, io.ErrUnexpectedEOF) && wantErr == nil  // it takes that for the end
	longName := errors.Is(wantErr, gzip.ErrHeader) && len(data) > 500 // it reads none of 512 bytes
	// It does not read padding.
	padded := errors.Is(wantErr, gzip.ErrHeader) && bytes.HasSuffix(data, []byte{0}) && err == nil ||
		errors.Is(wantErr, io.ErrUnexpectedEOF) && err == nil && isPadded(data, got)
	flags := err != nil && strings.Contains(err.Error(), "with unknown flags") // which it ignores
	if cutName || longName || padded || flags {
		return got, err
	}
	if (err == nil) != (wantErr == nil) || errors.Is(err, gzip.ErrChecksum) != errors.Is(wantErr, gzip.ErrChecksum) {
		t.Fatalf("%x: %v, want %v", data, err, wantErr)
	}
	if !bytes.HasPrefix(got, want) || err == nil && len(got) != len(want) {
		t.Fatalf("%x: %d bytes, want %d", data, len(got), len(want))
	}
	return got, err
}

// isPadded reports whether data is a file with some content, and zeros that are too few for a header.
func isPadded(data, content []byte) bool {
	for n := 1; n < 10 && n <= len(data) && data[len(data)-n] == 0; n++ {
		z, err := gzip.NewReader(bytes.NewReader(data[:len(data)-n]))
		if err != nil {
			continue
		}
		if whole, err := readAll(z, 1<<20); err == nil && bytes.Equal(whole, content) {
			return true
		}
	}
	return false
}

// FuzzGzip compares with compress/gzip on any data.
func FuzzGzip(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		file, _ := members(r, 100)
		f.Add(file, 10)
	}
	f.Fuzz(func(t *testing.T, data []byte, limit int) { checkGzip(t, data, 1+limit&0xFFF) })
}

// TestGzipPadding reads gzip files with zeros after their last member, and with something after the
// zeros, which is an error.
func TestGzipPadding(t *testing.T) { eachDecoder(t, testGzipPadding) }

func testGzipPadding(t *testing.T) {
	race.Skip(t)
	r := torture.Rand(t)
	for i := range 100 {
		file, content := members(r, []int{10, 1000, 100_000}[i%3])
		zeros := 1 + r.IntN([]int{4, 600, 10_000}[r.IntN(3)])
		padded := append(file, make([]byte, zeros)...)
		read := func(data []byte) (got []byte, err error) {
			var z Reader
			z.Reset(&pieces{data: data, r: rand.New(rand.NewPCG(r.Uint64(), 2)), limit: 1 + r.IntN(5000)}, Gzip)
			return io.ReadAll(&z)
		}
		if got, err := read(padded); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%d zeros: %d bytes, want %d; %v", zeros, len(got), len(content), err)
		}
		behind := []byte{byte(1 + r.IntN(255))}
		if i%2 == 0 {
			behind, _ = members(r, 10)
		}
		var fault *Error
		if got, err := read(append(padded, behind...)); !errors.As(err, &fault) || !errors.Is(err, gzip.ErrHeader) || !bytes.Equal(got, content) {
			t.Fatalf("%d zeros and %x: %d bytes, want %d; %v", zeros, behind[0], len(got), len(content), err)
		} else if at := int64(len(padded)); fault.Offset < at || fault.Offset > at+int64(len(behind)) {
			t.Errorf("%v, want byte %d", fault, at)
		}
	}
	if _, err := checkGzip(t, make([]byte, 100), 10); err == nil {
		t.Error("zeros without a member are a gzip file")
	}
}

// TestZlibStreams reads streams after one another. What follows them and is none is an error, and none
// at all is nothing.
func TestZlibStreams(t *testing.T) {
	var file bytes.Buffer
	for _, part := range []string{"one, ", "", "two, ", "three"} {
		z := zlib.NewWriter(&file)
		z.Write([]byte(part))
		z.Close()
	}
	for limit := 1; limit < 20; limit++ {
		var r Reader
		r.Reset(&pieces{data: file.Bytes(), r: rand.New(rand.NewPCG(1, 2)), limit: limit}, ZlibStreams)
		if got, err := io.ReadAll(&r); err != nil || string(got) != "one, two, three" {
			t.Errorf("%q, %v", got, err)
		}
		r.Reset(&pieces{data: append(bytes.Clone(file.Bytes()), "something"...), r: rand.New(rand.NewPCG(1, 2)), limit: limit}, ZlibStreams)
		if got, err := io.ReadAll(&r); !errors.Is(err, zlib.ErrHeader) || string(got) != "one, two, three" {
			t.Errorf("%q, %v", got, err)
		}
	}
	for _, format := range []Format{ZlibStreams, Gzip} {
		var r Reader
		r.Reset(new(Bytes), format)
		if got, err := io.ReadAll(&r); err != nil || len(got) > 0 {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// TestDoesNotWait: what was flushed can be read before more is written.
func TestDoesNotWait(t *testing.T) {
	in, out := io.Pipe()
	defer in.Close()
	go func() {
		z := gzip.NewWriter(out)
		z.Write([]byte("flushed"))
		z.Flush()
	}()
	var r Reader
	file := File{Buffer: make([]byte, 1000)}
	file.Reset(in)
	r.Reset(&file, Gzip)
	if got, err := r.Next(7); err != nil || string(got) != "flushed" {
		t.Errorf("%q, %v", got, err)
	}
}
