package tfrecord

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// noise returns n random bytes, the same every time.
func noise(n int) []byte {
	p := make([]byte, n)
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	for i := range p {
		p[i] = byte(rnd.Uint32())
	}
	return p
}

// payloads are records of boundary lengths: empty, around the tests' small buffers, and with
// lengths of two and three bytes.
func payloads() (p [][]byte) {
	for _, n := range []int{0, 1, 47, 48, 49, 255, 256, 4080, 0, 4096, 65535, 65537, 3} {
		p = append(p, noise(n))
	}
	return p
}

// file returns the records written as a file.
func file(t testing.TB, opts WriterOptions, records [][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range records {
		if err := w.WriteRecord(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readAll reads to the end or the first error.
func readAll(r *Reader) (records [][]byte, err error) {
	for {
		record, err := r.Next()
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		records = append(records, bytes.Clone(record))
	}
}

func sameRecords(t testing.TB, got, want [][]byte) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("record %d differs: %d bytes, want %d", i, len(got[i]), len(want[i]))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
}

// fault is what tests compare of an Error.
type fault struct {
	Record, Offset int64
	Part           Part
}

// faultOf fails the test unless err is an *Error.
func faultOf(t testing.TB, err error) fault {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v (%T) is no *Error", err, err)
	}
	return fault{e.Record, e.Offset, e.Part}
}

// plainRead is the reference implementation for plain files: minimal, over the whole file at once.
// It returns the records before the first fault, and the fault; a zero Part if there is none.
func plainRead(data []byte, limit uint64) (records [][]byte, f fault) {
	for pos := 0; pos < len(data); {
		f = fault{int64(len(records)), int64(pos), ""}
		rest := data[pos:]
		switch {
		case len(rest) < 8:
			f.Part = PartLength
			return records, f
		case len(rest) < 12:
			f.Part = PartLengthCRC
			return records, f
		}
		length := binary.LittleEndian.Uint64(rest)
		switch {
		case maskedCRC(rest[:8]) != binary.LittleEndian.Uint32(rest[8:]):
			f.Part = PartLengthCRC
		case length > limit:
			f.Part = PartLength
		case uint64(len(rest)-12) < length:
			f.Part = PartData
		case uint64(len(rest)-16) < length || len(rest) < 16:
			f.Part = PartDataCRC
		case maskedCRC(rest[12:12+length]) != binary.LittleEndian.Uint32(rest[12+length:]):
			f.Part = PartDataCRC
		}
		if f.Part != "" {
			return records, f
		}
		records = append(records, rest[12:12+length])
		pos += 16 + int(length)
	}
	return records, fault{}
}

// rotateEntries returns an Example whose map entries begin with the n-th.
func rotateEntries(t testing.TB, example []byte, n int) []byte {
	t.Helper()
	_, from, to, err := field(example, 0)
	if err != nil {
		t.Fatal(err)
	}
	at := from
	for range n {
		if _, _, at, err = field(example[:to], at); err != nil {
			t.Fatal(err)
		}
	}
	out := bytes.Clone(example[:from])
	out = append(out, example[at:to]...)
	return append(out, example[from:at]...)
}
