package deflate

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// contents are data of many kinds: what compresses to literals, to matches of all lengths and
// distances, to stored blocks, to nothing; longer than the buffer and than a block.
func contents(r *rand.Rand) map[string][]byte {
	noise := func(n, kinds int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(kinds))
		}
		return b
	}
	residuals, skewed := make([]byte, 700_000), make([]byte, 60_000)
	for i := range residuals {
		residuals[i] = byte(int(r.NormFloat64() * 5))
	}
	for i := range skewed { // codes of more bits than there may be
		skewed[i] = byte(min(255, r.ExpFloat64()*2))
	}
	var fibonacci []byte
	for i, a, b := 0, 1, 1; i < 24; i, a, b = i+1, b, a+b {
		fibonacci = append(fibonacci, bytes.Repeat([]byte{byte(i), byte(i + 100)}, a)...)
	}
	r.Shuffle(len(fibonacci), func(i, j int) { fibonacci[i], fibonacci[j] = fibonacci[j], fibonacci[i] })
	var periods, text []byte
	for n := 1; n < 400; n += 3 {
		periods = append(periods, bytes.Repeat(noise(n, 256), 1+r.IntN(90))...)
	}
	for i := range 30_000 {
		text = fmt.Appendf(text, "%d: record %d of %x\n", i, r.IntN(1000), i*i)
	}
	far := noise(window+r.IntN(3)-1, 256)
	return map[string][]byte{
		"nothing": nil, "a byte": {7}, "two": {0, 255}, "few": noise(r.IntN(20), 3), "zeros": make([]byte, 1_000_000), "noise": noise(400_000, 256),
		"bits": noise(50_000, 2), "residuals": residuals, "skewed": skewed, "fibonacci": fibonacci, "periods": periods, "text": text,
		"far": append(far, far...), "a chunk": noise(len(Writer{}.buffer), 9), "a chunk and a byte": noise(len(Writer{}.buffer)+1, 256),
		"stored": noise(maxStored, 256), "stored and a byte": noise(maxStored+1, 256),
	}
}

// compress writes data in pieces of random lengths.
func compress(w *Writer, r *rand.Rand, data []byte) []byte {
	w.Reset([]byte("before"))
	for longest := []int{7, 3000, 1 << 20}[r.IntN(3)]; len(data) > 0; {
		n := min(len(data), r.IntN(longest))
		w.Write(data[:n])
		data = data[n:]
	}
	return w.Close()
}

// TestWriter reads back what is written, with compress/zlib, and the bytes do not depend on how the
// data come, nor on what came before.
func TestWriter(t *testing.T) {
	r := torture.Rand(t)
	var w Writer
	for name, data := range contents(r) {
		out := compress(&w, r, data)
		if !bytes.HasPrefix(out, []byte("before")) {
			t.Fatalf("%s: what was there before is gone", name)
		}
		check(t, name, out[6:], data)
		if again := compress(new(Writer), r, data); !bytes.Equal(again, out) {
			t.Errorf("%s: other bytes the second time", name)
		}
	}
}

// check reads a stream, which is no longer than the data stored in blocks that begin with 7 bits of
// padding each, the most that there can be: that is what the writer compares others with.
func check(t *testing.T, name string, stream, data []byte) {
	t.Helper()
	z, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got, err := io.ReadAll(z)
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%s: %d bytes, want %d; %v", name, len(got), len(data), err)
	}
	if most := 2 + (8*len(data)+(3+7+32)*(len(data)/blockItems+1)+7)/8 + 4; len(stream) > most {
		t.Errorf("%s: %d bytes for %d, want %d at most", name, len(stream), len(data), most)
	}
	t.Logf("%s: %d bytes for %d", name, len(stream), len(data))
}

// TestBuild: codes are prefix codes within the limit, and as short as they can be without one.
func TestBuild(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var b builder
	for range 3000 {
		often := make([]uint32, 2+r.IntN(285))
		spread := r.IntN(30)
		for i := range often {
			if r.IntN(3) > 0 {
				often[i] = r.Uint32N(1 << r.IntN(spread+1))
			}
		}
		codes := make([]code, len(often))
		b.build(codes, often, limit)
		total, used := 0, 0
		for s, c := range codes {
			if (c == 0) != (often[s] == 0) && (used > 2 || c == 0) {
				t.Fatalf("symbol %d of %v has code %x", s, often, c)
			}
			if n := c.length(); n > limit {
				t.Fatalf("%d bits", n)
			} else if n > 0 {
				used++
				total += 1 << (limit - n)
			}
		}
		if total != 1<<limit {
			t.Fatalf("codes of %v take %d of %d", often, total, 1<<limit)
		}
	}
}

// FuzzWriter reads back any data, of which the reference implementation makes the same bytes.
func FuzzWriter(f *testing.F) {
	for _, data := range contents(rand.New(rand.NewPCG(5, 6))) {
		f.Add(data[:min(len(data), 3000)])
	}
	var w Writer
	var reference reference
	f.Fuzz(func(t *testing.T, data []byte) {
		w.Reset(nil)
		w.Write(data)
		out := w.Close()
		check(t, "data", out, data)
		if want := reference.compress(data); !bytes.Equal(out, want) {
			t.Errorf("%x, want %x", out, want)
		}
	})
}
