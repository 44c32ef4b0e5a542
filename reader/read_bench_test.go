package reader

import (
	"bytes"
	"io"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// benchmarkPipe reads a set repeatedly; one operation is one record.
func benchmarkPipe(b *testing.B, files, records, size int, c tfrecord.Compression, build func(*Set) Pipe) {
	dir := b.TempDir()
	all := make([][]byte, records)
	for i := range all {
		all[i] = bytes.Repeat([]byte{byte(i), byte(i >> 8), 7, 77}, size/4)
	}
	for i := range files {
		readertest.WriteFile(b, readertest.ShardPath(dir, i), c, all...)
	}
	s, err := build(open(b, dir, Options{})).Repeat(-1).Start(b.Context(), From{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	left := 0
	for b.Loop() {
		if left--; left >= 0 {
			continue
		}
		block, err := nextBlock(s)
		if err != nil {
			b.Fatal(err)
		}
		left = len(block.Records) - 1
		block.Release()
	}
}

func BenchmarkInterleave(b *testing.B) {
	benchmarkPipe(b, 16, 20_000, 184, tfrecord.CompressionNone, func(s *Set) Pipe { return s.Interleave(16, 1) })
}

func BenchmarkSequential(b *testing.B) {
	benchmarkPipe(b, 16, 20_000, 184, tfrecord.CompressionNone, (*Set).Records)
}

func BenchmarkInterleaveGzip(b *testing.B) {
	benchmarkPipe(b, 16, 5_000, 184, tfrecord.CompressionGzip, func(s *Set) Pipe { return s.Interleave(16, 1) })
}

func BenchmarkInterleaveLarge(b *testing.B) {
	benchmarkPipe(b, 16, 200, 110_000, tfrecord.CompressionNone, func(s *Set) Pipe { return s.Interleave(16, 1) })
}

func BenchmarkShuffle(b *testing.B) {
	benchmarkPipe(b, 16, 20_000, 184, tfrecord.CompressionNone, func(s *Set) Pipe { return s.Interleave(16, 1).Shuffle(10_000) })
}

func BenchmarkShuffleAll(b *testing.B) {
	benchmarkPipe(b, 16, 20_000, 184, tfrecord.CompressionNone, func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}) })
}

// BenchmarkMix draws from the same files as BenchmarkInterleave, opened as one set and as two halves.
func BenchmarkMix(b *testing.B) {
	benchmarkPipe(b, 16, 20_000, 184, tfrecord.CompressionNone, func(s *Set) Pipe {
		var halves []Pipe
		for _, sources := range [][]shard.Source{s.Sources()[:8], s.Sources()[8:]} {
			var paths []string
			for _, source := range sources {
				paths = append(paths, source.Path)
			}
			half, err := OpenAll(b.Context(), paths, s.files.Opts)
			if err != nil {
				b.Fatal(err)
			}
			halves = append(halves, half.Interleave(8, 1))
		}
		return Mix(MixOptions{Weights: []float64{2, 1}}, halves...)
	})
}

func BenchmarkCacheMemory(b *testing.B) {
	benchmarkPipe(b, 16, 5_000, 184, tfrecord.CompressionGzip, func(s *Set) Pipe { return s.Interleave(16, 1).Cache(CacheOptions{}) })
}

func BenchmarkCacheDisk(b *testing.B) {
	dir := b.TempDir()
	benchmarkPipe(b, 16, 5_000, 184, tfrecord.CompressionGzip, func(s *Set) Pipe { return s.Interleave(16, 1).Cache(CacheOptions{Dir: dir}) })
}

func BenchmarkCacheDiskLarge(b *testing.B) {
	dir := b.TempDir()
	benchmarkPipe(b, 4, 100, 110_000, tfrecord.CompressionNone, func(s *Set) Pipe { return s.Interleave(16, 1).Cache(CacheOptions{Dir: dir}) })
}

func BenchmarkFilterRecords(b *testing.B) {
	benchmarkPipe(b, 16, 20_000, 184, tfrecord.CompressionNone, func(s *Set) Pipe { return odd(s.Interleave(16, 1)) })
}

func BenchmarkMapRecords(b *testing.B) {
	benchmarkPipe(b, 16, 20_000, 184, tfrecord.CompressionNone, func(s *Set) Pipe { return again(s.Interleave(16, 1)) })
}

// BenchmarkTake1 measures starting and stopping.
func BenchmarkTake1(b *testing.B) {
	dir := readertest.WriteShards(b, tfrecord.CompressionNone, make([]int, 16)...)
	readertest.WriteFile(b, readertest.ShardPath(dir, 16), tfrecord.CompressionNone, []byte("record"))
	p := open(b, dir, Options{}).Interleave(16, 1)
	for b.Loop() {
		s, err := p.Start(b.Context(), From{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Next(); err != nil && err != io.EOF {
			b.Fatal(err)
		}
		s.Close()
	}
}
