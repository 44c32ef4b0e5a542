package convert

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkCSV converts a table like card transactions: an integer, 28 floats, an amount, a text
// and a class.
func BenchmarkCSV(b *testing.B) {
	const rows = 100_000
	rng := rand.New(rand.NewPCG(1, 1))
	var text bytes.Buffer
	text.WriteString("Time")
	for i := range 28 {
		fmt.Fprintf(&text, ",V%d", i+1)
	}
	text.WriteString(",Amount,Merchant,Class\n")
	for i := range rows {
		fmt.Fprint(&text, i)
		for range 28 {
			fmt.Fprintf(&text, ",%.6f", rng.NormFloat64())
		}
		fmt.Fprintf(&text, ",%.2f,merchant %d,%d\n", rng.Float64()*500, i%977, i/600%2)
	}
	dir := b.TempDir()
	src := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(src, text.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	for _, shuffled := range []bool{false, true} {
		b.Run(fmt.Sprintf("shuffle=%v", shuffled), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				out := filepath.Join(dir, fmt.Sprint(shuffled, i))
				if _, err := CSV(b.Context(), []string{src}, out, CSVOptions{Options: Options{Shards: 4}, Shuffle: shuffled}); err != nil {
					b.Fatal(err)
				}
				os.RemoveAll(out)
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
