package inflate

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// Bytes is a Source that has all data in one piece.
type Bytes []byte

// Piece returns the data, and io.EOF from the second call on.
func (b *Bytes) Piece() ([]byte, error) {
	piece := *b
	if piece == nil {
		return nil, io.EOF
	}
	*b = nil
	return piece, nil
}

// pieces is a Source that cuts data into pieces of random lengths.
type pieces struct {
	data  []byte
	r     *rand.Rand
	limit int // of a piece
}

func (p *pieces) Piece() ([]byte, error) {
	if len(p.data) == 0 {
		return nil, io.EOF
	}
	n := min(len(p.data), p.r.IntN(p.limit+1))
	piece := bytes.Clone(p.data[:n])
	p.data = p.data[n:]
	return piece, nil
}

// contents are data of many kinds: what compresses to literals, to matches of all distances, to
// stored blocks, to nothing.
func contents(r *rand.Rand) map[string][]byte {
	noise := func(n, kinds int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(kinds))
		}
		return b
	}
	far := append(noise(32768-100, 256), noise(1000, 256)...)
	normal := make([]byte, 100_000)
	for i := range normal {
		normal[i] = byte(int(r.NormFloat64() * 8))
	}
	skewed := make([]byte, 60_000) // long codes
	for i := range skewed {
		skewed[i] = byte(r.ExpFloat64() * 9)
	}
	var periods []byte
	for n := 1; n < 100; n++ {
		period := noise(n, 256)
		for range 2 + r.IntN(300/n+2) {
			periods = append(periods, period...)
		}
	}
	var text []byte
	for i := range 5000 {
		text = fmt.Appendf(text, "%d: record %d of %x\n", i, r.IntN(1000), i*i)
	}
	return map[string][]byte{
		"nothing": nil, "a byte": {7}, "zeros": make([]byte, 300_000), "noise": noise(150_000, 256), "bits": noise(20_000, 2),
		"residuals": normal, "skewed": skewed, "periods": periods, "text": text, "far": append(far, far...), "fours": bytes.Repeat(noise(5, 256), 30_000),
	}
}

// TestReader decompresses what compress/flate compresses at all levels, in pieces of all lengths.
func TestReader(t *testing.T) {
	eachDecoder(t, testReader)
}

func testReader(t *testing.T) {
	r := torture.Rand(t)
	var reader Reader
	for name, want := range contents(r) {
		for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, flate.BestSpeed, 6} {
			var packed bytes.Buffer
			z, err := zlib.NewWriterLevel(&packed, level)
			if err != nil {
				t.Fatal(err)
			}
			for rest := want; len(rest) > 0; {
				n := min(len(rest), 1+r.IntN(100_000))
				z.Write(rest[:n])
				if rest = rest[n:]; r.IntN(2) == 0 {
					z.Flush()
				}
			}
			z.Close()
			for _, limit := range []int{1, 30, 5000, 1 << 30} {
				if limit == 1 && level != 6 {
					continue
				}
				source := &pieces{data: packed.Bytes(), r: r, limit: limit}
				reader.Reset(source, Zlib)
				var got []byte
				for err = nil; err == nil; {
					n := [...]int{1, 7, 1000, 30_000, 300_000}[r.IntN(5)]
					if r.IntN(2) == 0 {
						var b []byte
						if b, err = reader.Next(n); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
							got = append(got, b...)
						}
						if errors.Is(err, io.ErrUnexpectedEOF) {
							_, err = reader.Next(1)
						}
					} else {
						b := make([]byte, n)
						n, err = reader.Read(b)
						got = append(got, b[:n]...)
					}
				}
				if err != io.EOF || !bytes.Equal(got, want) {
					t.Fatalf("%s, level %d, pieces of up to %d: %v; %d bytes, want %d", name, level, limit, err, len(got), len(want))
				}
				if c := reader.Consumed(); c != int64(packed.Len()) {
					t.Errorf("%s, level %d: %d bytes were consumed, want %d", name, level, c, packed.Len())
				}
			}
		}
	}
}

// readAll is what a reader of DEFLATE makes of data until it ends or fails.
func readAll(r io.Reader, most int) ([]byte, error) {
	var out bytes.Buffer
	_, err := io.Copy(&out, io.LimitReader(r, int64(most)))
	return out.Bytes(), err
}

// checkReference compares the verdict and content of a raw stream with those of compress/flate, and
// returns the verdict.
func checkReference(t *testing.T, data []byte, limit int, seed uint64) error {
	t.Helper()
	const most = 1 << 20
	from := bytes.NewReader(data)
	want, wantErr := readAll(flate.NewReader(from), most)
	var r Reader
	r.Reset(&pieces{data: data, r: rand.New(rand.NewPCG(seed, 2)), limit: limit}, Raw)
	got, err := readAll(&r, most)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%x in pieces of %d: %v, want %v", data, limit, err, wantErr)
	}
	if err == nil && !bytes.Equal(got, want) {
		t.Fatalf("%x in pieces of %d: %d bytes, want %d, or other ones", data, limit, len(got), len(want))
	}
	if !bytes.HasPrefix(got, want) { // compress/flate gives back whole windows before an error
		t.Fatalf("%x in pieces of %d: %d bytes before an error, which do not begin with %d", data, limit, len(got), len(want))
	}
	if err == nil && len(want) < most {
		if used := int64(len(data) - from.Len()); r.Consumed() != used {
			t.Fatalf("%x in pieces of %d: %d bytes consumed, want %d", data, limit, r.Consumed(), used)
		}
	}
	return err
}

// TestDamaged cuts and changes streams at random.
func TestDamaged(t *testing.T) { eachDecoder(t, testDamaged) }

func testDamaged(t *testing.T) {
	race.Skip(t)
	r := torture.Rand(t)
	for _, content := range contents(r) {
		content = content[:min(len(content), 5000)]
		for _, level := range []int{flate.HuffmanOnly, flate.BestSpeed, 6} {
			var packed bytes.Buffer
			z, _ := flate.NewWriter(&packed, level)
			z.Write(content)
			z.Close()
			for i := range 60 {
				data := bytes.Clone(packed.Bytes())
				if i%3 == 0 {
					data = data[:r.IntN(len(data))]
				} else {
					for range 1 + r.IntN(3) {
						data[r.IntN(min(len(data), 1+r.IntN(len(data))))] ^= byte(1 << r.IntN(8))
					}
				}
				err := checkReference(t, data, []int{1, 30, 1 << 30}[i/3%3], r.Uint64())
				if cut := i%3 == 0; cut && err != io.ErrUnexpectedEOF {
					t.Fatalf("%d of %d bytes: %v", len(data), packed.Len(), err)
				}
			}
		}
	}
}

// FuzzReader compares with compress/flate on any data.
func FuzzReader(f *testing.F) {
	for _, content := range contents(rand.New(rand.NewPCG(1, 1))) {
		var packed bytes.Buffer
		z, _ := flate.NewWriter(&packed, 6)
		z.Write(content[:min(len(content), 3000)])
		z.Close()
		f.Add(packed.Bytes(), 1000)
	}
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		eachDecoder(t, func(t *testing.T) { checkReference(t, data, max(1, limit&0xFFFF), 1) })
	})
}

// TestChecksum: a wrong Adler-32 is an error, after all of the content.
func TestChecksum(t *testing.T) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write([]byte("content"))
	z.Close()
	for i := range 4 {
		data := Bytes(bytes.Clone(packed.Bytes()))
		data[len(data)-4+i]++
		var r Reader
		r.Reset(&data, Zlib)
		got, err := io.ReadAll(&r)
		var fault *Error
		if string(got) != "content" || !errors.As(err, &fault) || !fault.Checksum {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// TestSourceError: what a source says comes through, and stays.
func TestSourceError(t *testing.T) {
	mine := errors.New("mine")
	var r Reader
	r.Reset(failing{mine}, Zlib)
	for range 2 {
		if _, err := r.Next(1); err != mine {
			t.Error(err)
		}
	}
}

type failing struct{ err error }

func (f failing) Piece() ([]byte, error) { return nil, f.err }
