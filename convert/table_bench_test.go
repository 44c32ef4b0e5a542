package convert

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkTable converts JSON lines like events: an id, numbers, texts, a list and an object.
func BenchmarkTable(b *testing.B) {
	const rows = 200_000
	rng := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, `{"id": %d, "time": %.3f, "kind": "kind %d", "ok": %v, "scores": [%.4f, %.4f, %.4f], "user": {"name": "user %d", "age": %d}}`+"\n",
			i, rng.Float64()*1e6, i%7, i%3 == 0, rng.Float32(), rng.Float32(), rng.Float32(), i%977, i%90)
	}
	dir := b.TempDir()
	src := filepath.Join(dir, "t.jsonl")
	if err := os.WriteFile(src, []byte(text.String()), 0o666); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		out := filepath.Join(dir, fmt.Sprint(i))
		if _, err := Table(b.Context(), []string{src}, out, TableOptions{CSVOptions: CSVOptions{Options: Options{Shards: 4}}}); err != nil {
			b.Fatal(err)
		}
		os.RemoveAll(out)
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
