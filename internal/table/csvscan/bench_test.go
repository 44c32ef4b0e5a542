package csvscan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// transactions is a table like card transactions: 32 columns, most of them
// floats of six decimals, or, quoted, half of them in quotes.
func transactions(rows int, quoted bool) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	var b bytes.Buffer
	b.WriteString("Time")
	for i := range 28 {
		fmt.Fprintf(&b, ",V%d", i+1)
	}
	b.WriteString(",Amount,Merchant,Class\r\n")
	for i := range rows {
		fmt.Fprint(&b, i)
		for j := range 28 {
			format := ",%.6f"
			if quoted && j%2 == 0 {
				format = ",\"%.6f\""
			}
			fmt.Fprintf(&b, format, rng.NormFloat64())
		}
		fmt.Fprintf(&b, ",%.2f,merchant %d,%d\r\n", rng.Float64()*500, i%977, i/600%2)
	}
	return b.Bytes()
}

func BenchmarkChunker(b *testing.B) {
	for _, quoted := range []bool{false, true} {
		text := transactions(30000, quoted)
		b.Run(fmt.Sprintf("quoted=%v", quoted), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				c := &chunker{r: bytes.NewReader(text), delim: ',', size: ChunkSize, maxRow: DefaultMaxRow}
				for {
					data, _, err := c.next(buf)
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					buf = data
				}
			}
		})
	}
}

// benchmarkRows calls row for each row of a table of 1 MB.
func benchmarkRows(b *testing.B, quoted bool, row func(*Tokenizer)) {
	text := transactions(3300, quoted)
	text = text[bytes.IndexByte(text, '\n')+1:]
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	t := NewTokenizer(Dialect{Delimiter: ','}, 32)
	for b.Loop() {
		for t.Reset(text, 1); t.Next(); {
			if t.Bad() {
				b.Fatal(t.Err())
			}
			row(t)
		}
	}
}

func BenchmarkTokenizer(b *testing.B) {
	for _, quoted := range []bool{false, true} {
		b.Run(fmt.Sprintf("quoted=%v", quoted), func(b *testing.B) {
			benchmarkRows(b, quoted, func(*Tokenizer) {})
		})
	}
}

func BenchmarkInfer(b *testing.B) {
	f := newInferrer(32, NewMissing(DefaultMissing))
	benchmarkRows(b, false, f.row)
}

func BenchmarkParse(b *testing.B) {
	benchmarkRows(b, false, func(t *Tokenizer) {
		for i := 1; i < 30; i++ {
			if _, ok := ParseFloat64(t.Field(i)); !ok {
				b.Fatal("bad float")
			}
		}
		_, ok := ParseInt64(t.Field(0))
		_, ok2 := ParseInt64(t.Field(31))
		if !ok || !ok2 {
			b.Fatal("bad integer")
		}
	})
}

func BenchmarkScan(b *testing.B) {
	path := filepath.Join(b.TempDir(), "t.csv")
	text := transactions(100000, false)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s, err := Open(b.Context(), path, Options{})
				if err != nil {
					b.Fatal(err)
				}
				table, err := s.Scan(context.Background(), ScanOptions{Workers: workers})
				if err != nil || table.Rows != 100000 {
					b.Fatal(table, err)
				}
				s.Close()
			}
		})
	}
}
