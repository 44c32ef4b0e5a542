package tfrecord

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReaderReadsWhatWasWritten(t *testing.T) {
	want := payloads()
	data := file(t, WriterOptions{}, want)
	sources := map[string]func(io.Reader) io.Reader{
		"whole":    func(r io.Reader) io.Reader { return r },
		"one byte": iotest.OneByteReader,
		"half":     iotest.HalfReader,
		"data+err": iotest.DataErrReader,
	}
	for name, source := range sources {
		for _, size := range []int{1, 64, 100, 4096, 0} {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				r := NewReader(source(bytes.NewReader(data)), ReaderOptions{BufferSize: size})
				if r.Record() != -1 || r.Offset() != 0 {
					t.Errorf("before the first record: record %d at %d", r.Record(), r.Offset())
				}
				offset := int64(0)
				n := 0
				for record, err := range r.All() {
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(record, want[n]) {
						t.Fatalf("record %d differs", n)
					}
					if r.Offset() != offset || r.Record() != int64(n) {
						t.Fatalf("record %d at %d is said to be %d at %d", n, offset, r.Record(), r.Offset())
					}
					offset += int64(len(record)) + Overhead
					n++
				}
				if n != len(want) {
					t.Fatalf("%d records of %d", n, len(want))
				}
				if _, err := r.Next(); err != io.EOF {
					t.Errorf("after the end: %v", err)
				}
				if r.Compression() != CompressionNone {
					t.Errorf("compression %v", r.Compression())
				}
			})
		}
	}
}

func TestAppendingToARecordHarmsNoOther(t *testing.T) {
	r := NewReader(bytes.NewReader(file(t, WriterOptions{}, [][]byte{[]byte("one"), []byte("two")})), ReaderOptions{})
	first, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	_ = append(first, "xxxxxxxxxxxxxxxxxxxxxxxx"...)
	if second, err := r.Next(); err != nil || string(second) != "two" {
		t.Errorf("%q, %v", second, err)
	}
}

// TestEveryCutIsFound cuts a file at every byte.
func TestEveryCutIsFound(t *testing.T) {
	data := file(t, WriterOptions{}, [][]byte{[]byte("hello"), nil, noise(70), []byte("end")})
	for n := range data {
		want, wantFault := plainRead(data[:n], defaultMaxRecord)
		for _, opts := range []ReaderOptions{{}, {Compression: CompressionNone}, {BufferSize: 64}, {Checksum: ChecksumLength}, {Checksum: ChecksumOff}} {
			got, err := readAll(NewReader(bytes.NewReader(data[:n]), opts))
			sameRecords(t, got, want)
			if wantFault.Part == "" {
				if err != nil {
					t.Errorf("cut at %d, between records: %v", n, err)
				}
				continue
			}
			if !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
				t.Errorf("cut at %d: %v", n, err)
			}
			if f := faultOf(t, err); f != wantFault {
				t.Errorf("cut at %d: %+v, want %+v", n, f, wantFault)
			}
		}
	}
}

// TestEveryFlippedBitIsFound flips every bit of a file.
func TestEveryFlippedBitIsFound(t *testing.T) {
	data := file(t, WriterOptions{}, [][]byte{[]byte("hello"), nil, noise(70), []byte("end")})
	for bit := range 8 * len(data) {
		bad := bytes.Clone(data)
		bad[bit/8] ^= 1 << (bit % 8)
		want, wantFault := plainRead(bad, defaultMaxRecord)
		if wantFault.Part == "" {
			t.Fatalf("bit %d does no harm", bit)
		}
		got, err := readAll(NewReader(bytes.NewReader(bad), ReaderOptions{}))
		sameRecords(t, got, want)
		if f := faultOf(t, err); f != wantFault {
			t.Errorf("bit %d: %+v, want %+v", bit, f, wantFault)
		}
		if !errors.Is(err, ErrChecksum) {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
}

func TestReaderGoesOnAfterWrongDataOnly(t *testing.T) {
	records := [][]byte{[]byte("first"), []byte("second"), []byte("third")}
	data := file(t, WriterOptions{}, records)
	data[headerSize] ^= 1
	r := NewReader(bytes.NewReader(data), ReaderOptions{})
	var got []string
	for record, err := range r.All() {
		if err != nil {
			got = append(got, fmt.Sprintf("%+v", faultOf(t, err)))
			continue
		}
		got = append(got, string(record))
	}
	if s := strings.Join(got, " "); s != "{Record:0 Offset:0 Part:data_crc} second third" {
		t.Error(s)
	}

	data[2*Overhead+len("first")] ^= 1
	data[len(data)-1] ^= 1
	data[Overhead+len("first")] ^= 4 // the second length
	r.Reset(bytes.NewReader(data), "again")
	var errs []error
	for _, err := range r.All() {
		errs = append(errs, err)
	}
	if len(errs) != 2 || faultOf(t, errs[1]).Part != PartLengthCRC {
		t.Fatalf("%v", errs)
	}
	if _, err := r.Next(); err != errs[1] {
		t.Errorf("the final error is not repeated: %v", err)
	}
	if !strings.HasPrefix(errs[1].Error(), "again: record 1 at byte 21: length_crc: checksum does not match: stored ") {
		t.Errorf("%v", errs[1])
	}
}

func TestChecksumOptions(t *testing.T) {
	good := file(t, WriterOptions{}, [][]byte{[]byte("first"), []byte("second")})
	wrongLengthCRC := bytes.Clone(good)
	wrongLengthCRC[8] ^= 1
	wrongData := bytes.Clone(good)
	wrongData[headerSize] ^= 1
	for _, c := range []struct {
		name  string
		data  []byte
		check Checksum
		part  Part
	}{
		{"length crc, full", wrongLengthCRC, ChecksumFull, PartLengthCRC},
		{"length crc, length", wrongLengthCRC, ChecksumLength, PartLengthCRC},
		{"length crc, off", wrongLengthCRC, ChecksumOff, ""},
		{"data, full", wrongData, ChecksumFull, PartDataCRC},
		{"data, length", wrongData, ChecksumLength, ""},
		{"data, off", wrongData, ChecksumOff, ""},
	} {
		got, err := readAll(NewReader(bytes.NewReader(c.data), ReaderOptions{Checksum: c.check}))
		if c.part == "" {
			if err != nil || len(got) != 2 {
				t.Errorf("%s: %d records, %v", c.name, len(got), err)
			}
		} else if f := faultOf(t, err); f != (fault{0, 0, c.part}) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// TestALengthTakesNoMemory reads a header with the maximum length.
func TestALengthTakesNoMemory(t *testing.T) {
	data := appendHeader(nil, defaultMaxRecord)
	data = append(data, noise(1000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := NewReader(bytes.NewReader(data), ReaderOptions{BufferSize: 512}).Next()
	runtime.ReadMemStats(&after)
	if f := faultOf(t, err); f != (fault{0, 0, PartData}) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 {
		t.Errorf("%d bytes allocated for 1000", n)
	}
}

func TestTooLarge(t *testing.T) {
	data := file(t, WriterOptions{}, [][]byte{noise(10), noise(11)})
	for _, size := range []int{64, 0} {
		got, err := readAll(NewReader(bytes.NewReader(data), ReaderOptions{MaxRecord: 10, BufferSize: size}))
		if f := faultOf(t, err); len(got) != 1 || f != (fault{1, 26, PartLength}) || !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d records, %v", len(got), err)
		}
	}
	// Without a checksum to stop it, a length of all ones must not overflow.
	ones := bytes.Repeat([]byte{0xff}, 100)
	_, err := NewReader(bytes.NewReader(ones), ReaderOptions{Checksum: ChecksumOff, MaxRecord: 1<<63 - 1}).Next()
	if !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	binary.LittleEndian.PutUint64(ones, 1<<63-1)
	if _, err := NewReader(bytes.NewReader(ones), ReaderOptions{Checksum: ChecksumOff, MaxRecord: 1<<63 - 1}).Next(); err == nil {
		t.Error("read")
	}
}

func TestReadErrorsAreLocated(t *testing.T) {
	broken := errors.New("the disk is broken")
	records := [][]byte{noise(100), noise(100)}
	for _, c := range []Compression{CompressionNone, CompressionGzip, CompressionZlib, CompressionZstd} {
		data := file(t, WriterOptions{Compression: c}, records)
		for _, n := range []int{0, 1, 5, 10, len(data) / 2, len(data) - 1} {
			for _, opts := range []ReaderOptions{{Name: "x"}, {Name: "x", Compression: c}} {
				in := io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken))
				_, err := readAll(NewReader(in, opts))
				if !errors.Is(err, broken) || faultOf(t, err).Part == PartCompression {
					t.Errorf("%v, byte %d: %v", c, n, err)
				}
			}
		}
	}
}

func TestNoProgress(t *testing.T) {
	if _, err := NewReader(stuck{}, ReaderOptions{}).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestReaderAllocatesNothingARecord(t *testing.T) {
	data := file(t, WriterOptions{}, append(payloads(), payloads()...))
	r := NewReader(nil, ReaderOptions{BufferSize: 1024})
	in := bytes.NewReader(nil)
	if n := testing.AllocsPerRun(10, func() {
		in.Reset(data)
		r.Reset(in, "x")
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations a file", n)
	}
}

func TestCloseAndReset(t *testing.T) {
	for _, c := range []Compression{CompressionNone, CompressionGzip, CompressionZlib, CompressionZstd} {
		data := file(t, WriterOptions{Compression: c}, payloads())
		r := NewReader(bytes.NewReader(data), ReaderOptions{})
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != ErrClosed {
			t.Errorf("%v: read after Close: %v", c, err)
		}
		r.Reset(bytes.NewReader(data), "again")
		got, err := readAll(r)
		if err != nil {
			t.Fatal(err)
		}
		sameRecords(t, got, payloads())
	}
}

func TestLocate(t *testing.T) {
	r := NewReader(bytes.NewReader(file(t, WriterOptions{}, [][]byte{nil, {0x0a, 9}})), ReaderOptions{Name: "x"})
	var e Example
	var err error
	for record := range r.All() {
		if err = e.Parse(record); err != nil {
			break
		}
	}
	err = r.Locate(err)
	if want := "x: record 1 at byte 16: parse: byte 1 of the record: malformed: 9 bytes announced, 0 are left"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if !errors.Is(err, ErrMalformed) {
		t.Error("not ErrMalformed")
	}
	if other := errors.New("other"); r.Locate(other) != other || r.Locate(err) != err || r.Locate(nil) != nil {
		t.Error("an error that needs no place got one")
	}
}
