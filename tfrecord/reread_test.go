package tfrecord

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// remote is a file that changes in transit: each time it is read from its beginning it comes as the
// next of contents says, and as the last one from then on.
type remote struct {
	*bytes.Reader
	contents [][]byte
	rereads  int
	unstable bool // it never comes as it was the time before
}

func (f *remote) Reread(failed error, read func() error) error {
	for range 6 {
		f.rereads++
		f.Reader.Reset(f.contents[min(f.rereads, len(f.contents)-1)])
		err := read()
		if err == nil || !f.unstable && f.rereads >= len(f.contents) { // as it was the time before
			return err
		}
	}
	return errUnstable
}

var errUnstable = errors.New("unstable")

// Compressed files that arrive damaged, anywhere and more than once, give the records that they
// have; damage of their own is reported once, at the same record, and with the same records after
// it.
func TestRereadCompressed(t *testing.T) {
	r := torture.Rand(t)
	for _, compression := range []Compression{CompressionGzip, CompressionZlib, CompressionZstd} {
		for range 60 {
			var plain []byte
			n := 1 + r.IntN(40)
			own := -1 // a record that is damaged before it is compressed
			if r.IntN(3) == 0 {
				own = r.IntN(n)
			}
			for i := range n {
				record := make([]byte, r.IntN(1<<uint(r.IntN(15))))
				for k := range record {
					record[k] = byte(r.Uint32() % 5)
				}
				if i == own { // its checksum occurs nowhere else
					record = binary.LittleEndian.AppendUint64(record, r.Uint64())
				}
				plain = AppendFrame(plain, record)
				if i == own { // more than one changed bit of the compressed file can repair
					for k := range footerSize {
						plain[len(plain)-1-k] ^= 0xff
					}
				}
			}
			file := packedWith(t, compression, plain)
			want, wantErrs := allOf(t, NewReader(bytes.NewReader(file), ReaderOptions{}))
			in := &remote{}
			for range 1 + r.IntN(3) {
				damaged := bytes.Clone(file)
				damaged[len(damaged)/8+r.IntN(len(damaged)-len(damaged)/8)] ^= 1 << r.IntN(8)
				in.contents = append(in.contents, damaged)
			}
			in.contents = append(in.contents, file)
			in.Reader = bytes.NewReader(in.contents[0])
			got, errs := allOf(t, NewReader(in, ReaderOptions{Compression: compression}))
			if len(got) != len(want) || errs != wantErrs {
				t.Errorf("%v, own damage at %d: %d records, want %d; errors %q, want %q", compression, own, len(got), len(want), errs, wantErrs)
				continue
			}
			for i := range got {
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("%v: record %d differs", compression, i)
				}
			}
		}
	}
}

// packedWith compresses frames.
func packedWith(t *testing.T, c Compression, frames []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, WriterOptions{Compression: c})
	if err == nil {
		err = w.WriteFrames(frames, 1)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// allOf returns the records of a reader, and its errors in one text.
func allOf(t *testing.T, r *Reader) (records [][]byte, errs string) {
	t.Helper()
	for record, err := range r.All() {
		if err != nil {
			errs += err.Error() + "; "
			continue
		}
		records = append(records, bytes.Clone(record))
	}
	if _, err := r.Next(); err == nil {
		t.Error("there is a record after the end")
	}
	return records, errs
}

// A file whose damage is another one each time is an error of reading it.
func TestRereadUnstable(t *testing.T) {
	plain := AppendFrame(nil, bytes.Repeat([]byte("abc"), 1000))
	file := packedWith(t, CompressionGzip, plain)
	in := &remote{unstable: true}
	for i := range 7 {
		damaged := bytes.Clone(file)
		damaged[len(damaged)-8] ^= byte(1 + i) // the checksum of the content
		in.contents = append(in.contents, damaged)
	}
	in.Reader = bytes.NewReader(in.contents[0])
	r := NewReader(in, ReaderOptions{})
	var err error
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, errUnstable) || in.rereads != 6 {
		t.Errorf("%v after reading %d times", err, in.rereads)
	}
	if _, again := r.Next(); again != err || in.rereads != 6 {
		t.Errorf("after it: %v, read %d times", again, in.rereads)
	}
}
