package lzw

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	judge "golang.org/x/image/tiff/lzw"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

// writer packs codes.
type writer struct {
	out  []byte
	bits uint64
	n    int
}

func (w *writer) code(c, width int) {
	w.bits, w.n = w.bits<<width|uint64(c), w.n+width
	for ; w.n >= 8; w.n -= 8 {
		w.out = append(w.out, byte(w.bits>>(w.n-8)))
	}
}

func (w *writer) end() []byte {
	if w.n > 0 {
		w.code(0, 8-w.n)
	}
	return w.out
}

// compress is the encoder of TIFF 6.0, section 13. Once the table is full, it goes on with it for
// late codes more.
func compress(data []byte, late int) []byte {
	var w writer
	table := map[string]int{}
	next, width, more := codeEnd+1, minWidth, late
	clearAll := func() {
		w.code(codeClear, width)
		clear(table)
		next, width, more = codeEnd+1, minWidth, late
	}
	clearAll()
	code := func(s []byte) int {
		if len(s) == 1 {
			return int(s[0])
		}
		return table[string(s)]
	}
	var s []byte
	for _, b := range data {
		longer := append(s[:len(s):len(s)], b)
		if _, known := table[string(longer)]; known || len(longer) == 1 {
			s = longer
			continue
		}
		w.code(code(s), width)
		if next < codeLast {
			table[string(longer)] = next
			if next++; next == 1<<width {
				width++
			}
		} else if more--; more < 0 {
			clearAll()
		}
		s = []byte{b}
	}
	if len(s) > 0 {
		w.code(code(s), width)
		if next++; next == 1<<width && width < maxWidth {
			width++
		}
	}
	w.code(codeEnd, width)
	return w.end()
}

// judged is what the judge makes of a stream, up to a panic.
func judged(stream []byte) (out []byte, err error, panicked bool) {
	defer func() { panicked = recover() != nil }()
	r := judge.NewReader(bytes.NewReader(stream), judge.MSB, 8)
	for buf := make([]byte, 999); err == nil; {
		var n int
		n, err = r.Read(buf)
		out = append(out, buf[:n]...)
	}
	return out, err, false
}

// all reads a stream in pieces of random lengths, up to some amount.
func all(r *Reader, rnd *rand.Rand, stream []byte, most int) (out []byte, err error) {
	piece := make([]byte, []int{3, 500, 20_000}[rnd.IntN(3)])
	for r.Reset(stream); err == nil && len(out) < most; {
		var n int
		n, err = r.Read(piece[:1+rnd.IntN(len(piece))])
		out = append(out, piece[:n]...)
	}
	return out, err
}

// check compares with the judge.
func check(t *testing.T, r *Reader, rnd *rand.Rand, stream []byte) {
	t.Helper()
	want, wantErr, panicked := judged(stream)
	most := 1 << 62
	if panicked {
		most = len(want)
	}
	got, err := all(r, rnd, stream, most)
	if panicked {
		if !bytes.HasPrefix(got, want) {
			t.Fatalf("%d bytes %.100x: not what the judge read before it panicked", len(stream), stream)
		}
		return
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%d bytes %.100x: %d bytes, want %d; %v", len(stream), stream, len(got), len(want), err)
	}
	if wantErr != io.EOF && wantErr != io.ErrUnexpectedEOF {
		wantErr = errCode
	}
	if err != wantErr {
		t.Fatalf("%d bytes %.100x: %v, want %v", len(stream), stream, err, wantErr)
	}
}

// contents are data of many kinds: what compresses to literals, to long strings, to one string
// that grows.
func contents(r *rand.Rand) map[string][]byte {
	noise := func(n, kinds int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(kinds))
		}
		return b
	}
	residuals := make([]byte, 60_000)
	for i := range residuals {
		residuals[i] = byte(int(r.NormFloat64() * 5))
	}
	var periods, text []byte
	for n := 1; n < 60; n++ {
		periods = append(periods, bytes.Repeat(noise(n, 256), 1+r.IntN(200))...)
	}
	for i := range 3000 {
		text = fmt.Appendf(text, "%d: record %d of %x\n", i, r.IntN(1000), i*i)
	}
	return map[string][]byte{
		"nothing": nil, "a byte": {7}, "two": {0, 0}, "zeros": make([]byte, 300_000), "noise": noise(40_000, 256), "bits": noise(30_000, 2),
		"residuals": residuals, "periods": periods, "text": text, "short": noise(r.IntN(300), 3),
	}
}

// TestReader reads what is compressed, whole and damaged, as the judge does.
func TestReader(t *testing.T) {
	rnd := torture.Rand(t)
	var r Reader
	for name, data := range contents(rnd) {
		for _, late := range []int{0, 1, 700, 1 << 30} {
			stream := compress(data, late)
			if got, err := all(&r, rnd, stream, 1<<62); !bytes.Equal(got, data) || err != io.EOF {
				t.Fatalf("%s, %d codes late: %d bytes, want %d; %v", name, late, len(got), len(data), err)
			}
			check(t, &r, rnd, stream)
			for range 4 {
				damaged := bytes.Clone(stream)
				for range 1 + rnd.IntN(3) {
					damaged[rnd.IntN(len(damaged))] ^= 1 << rnd.IntN(8)
				}
				check(t, &r, rnd, damaged)
			}
			check(t, &r, rnd, stream[:rnd.IntN(len(stream))])
		}
	}
}

// TestReaderOfCodes reads random codes, nearly all of which have a string.
func TestReaderOfCodes(t *testing.T) {
	rnd := torture.Rand(t)
	var r Reader
	for range 60 {
		var w writer
		next, width, fresh := codeEnd, minWidth, true
		newest := rnd.IntN(4) // how often a code is that of the newest string
		for range rnd.IntN(12_000) {
			c := rnd.IntN(256)
			if n := next - codeEnd - 1; !fresh && n > 0 && rnd.IntN(4) > 0 {
				c = codeEnd + 1 + rnd.IntN(n)
				if rnd.IntN(4) < newest {
					c = min(next, codeLast)
				}
			}
			if rnd.IntN(9000) == 0 {
				c = rnd.IntN(1 << width)
			}
			w.code(c, width)
			if fresh = false; c == codeClear {
				next, width, fresh = codeEnd, minWidth, true
				continue
			}
			if next = min(next+1, codeLast); next+1 >= 1<<width {
				width = min(width+1, maxWidth)
			}
		}
		check(t, &r, rnd, w.end())
	}
}

// TestReaderOfNoise reads what is no stream.
func TestReaderOfNoise(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var r Reader
	for range 3000 {
		stream := make([]byte, rnd.IntN(200))
		for i := range stream {
			stream[i] = byte(rnd.Uint32())
		}
		check(t, &r, rnd, stream)
	}
}

// FuzzReader compares with the judge on any data.
func FuzzReader(f *testing.F) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, data := range contents(rnd) {
		f.Add(compress(data[:min(len(data), 5000)], 0))
	}
	var r Reader
	f.Fuzz(func(t *testing.T, stream []byte) { check(t, &r, rand.New(rand.NewPCG(7, 8)), stream) })
}

// BenchmarkReader decompresses photographs' bytes, with the judge beside it.
func BenchmarkReader(b *testing.B) {
	files, err := filepath.Glob("../../../testdata/demo/photos/daisy/*.jpg")
	if err != nil || len(files) == 0 {
		b.Fatal("no files")
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	residuals := contents(rand.New(rand.NewPCG(1, 2)))["residuals"]
	for name, data := range map[string][]byte{"noise": data, "residuals": residuals} {
		stream := compress(data, 0)
		b.Run(name+"/tfrec", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			var r Reader
			for b.Loop() {
				r.Reset(stream)
				if _, err := io.Copy(io.Discard, &r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/x-image", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := io.Copy(io.Discard, judge.NewReader(bytes.NewReader(stream), judge.MSB, 8)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
