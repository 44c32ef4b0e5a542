package shard_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// writeSet writes records as bare files, so many a file, and returns their paths.
func writeFiles(t testing.TB, dir string, c tfrecord.Compression, records [][]byte, per int) []string {
	t.Helper()
	var paths []string
	for first := 0; first == 0 || first < len(records); first += per {
		path := filepath.Join(dir, fmt.Sprintf("part-%05d.tfrecord", first/per))
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := tfrecord.NewWriter(f, tfrecord.WriterOptions{Compression: c})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records[first:min(first+per, len(records))] {
			if err := w.WriteRecord(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func benchmarkReshard(b *testing.B, size int, o shard.ReshardOptions) {
	var builder tfrecord.Builder
	n := min(512<<20/size, 2_000_000)
	var records [][]byte
	picture := make([]byte, size-100)
	for i := range picture {
		picture[i] = byte(i * i >> 3)
	}
	for i := range n {
		builder.Reset()
		builder.Int64("height", int64(i))
		builder.Int64("label", int64(i%10))
		builder.Bytes("picture", picture)
		builder.String("text", "some text")
		records = append(records, builder.Append(nil))
		if size > 1000 && i > 100 {
			records[i] = records[i%100]
		}
	}
	dir, err := os.MkdirTemp("/dev/shm", "reshard")
	if err != nil {
		b.Skip(err)
	}
	defer os.RemoveAll(dir)
	paths := writeFiles(b, dir, tfrecord.None, records, (n+3)/4)
	b.SetBytes(int64(n * len(records[0])))
	b.ReportAllocs()
	for b.Loop() {
		out := filepath.Join(dir, "out")
		if _, err := shard.Reshard(context.Background(), paths, out, o); err != nil {
			b.Fatal(err)
		}
		os.RemoveAll(out)
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkReshard(b *testing.B) {
	for _, size := range []int{184, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { benchmarkReshard(b, size, shard.ReshardOptions{}) })
		b.Run(fmt.Sprint("shuffle-", size), func(b *testing.B) { benchmarkReshard(b, size, shard.ReshardOptions{Shuffle: true}) })
	}
}
