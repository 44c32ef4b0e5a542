package reader

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// openFiles returns how many files this process has open; -1 if unknown.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(entries)
}

// leavesNothing calls f, and waits until no more goroutines run and files are open than before.
func leavesNothing(t *testing.T, f func()) {
	t.Helper()
	goroutines, files := runtime.NumGoroutine(), openFiles()
	f()
	// A goroutine may do a little more after signalling its end. No collection may close files that
	// were left open.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	testwait.Until(func() bool { return runtime.NumGoroutine() <= goroutines && openFiles() <= files })
}

func TestBreakLeavesNothing(t *testing.T) {
	for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionZstd} {
		dir := readertest.WriteShards(t, c, 900, 0, 900, 10, 900, 900)
		for name, build := range pipelines {
			if c != tfrecord.CompressionNone && name[:3] == "all" {
				continue
			}
			for _, n := range []int{0, 1, 600} {
				leavesNothing(t, func() {
					k := 0
					for _, err := range build(open(t, dir, Options{Memory: 1, Parallelism: 3})).All(t.Context()) {
						if err != nil {
							t.Errorf("%s: %v", name, err)
						}
						if k++; k > n {
							break
						}
					}
				})
			}
		}
	}
}

// At any moment, from another goroutine, while holding blocks.
func TestCancelAtAnyMoment(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900, 0, 900, 10, 900, 900)
	random := rand.New(rand.NewPCG(3, 4))
	leavesNothing(t, func() {
		for name, build := range pipelines {
			for range 6 {
				ctx, cancel := context.WithCancel(t.Context())
				var wait sync.WaitGroup
				after := time.Duration(random.IntN(2000)) * time.Microsecond
				wait.Go(func() {
					time.Sleep(after)
					cancel()
				})
				s, err := build(open(t, dir, Options{Memory: 1, Unordered: random.IntN(2) == 0})).Start(ctx, From{})
				if err == nil {
					for err == nil {
						var b *pipeline.Block
						if b, err = nextBlock(s); err == nil && random.IntN(2) == 0 {
							b.Release()
						}
					}
					s.Stats()
					s.Close()
				}
				if err != io.EOF && !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", name, err)
				}
				cancel()
				wait.Wait()
			}
		}
	})
}

func TestCloseAndThen(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900, 900)
	leavesNothing(t, func() {
		s, err := open(t, dir, Options{}).Interleave(2, 1).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := nextBlock(s)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		s.Close()
		if _, err := s.Next(); err == nil || err == io.EOF {
			t.Errorf("Next after Close: %v", err)
		}
		// Blocks stay valid, and may be released late.
		if idOf(b.Records[0]) != 0 || b.State(1).Skip != 1 {
			t.Error("a block changed when the stream was closed")
		}
		b.Release()
	})
}

// An error in the middle of a file also stops all the others.
func TestErrorLeavesNothing(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900, 900, 900)
	readertest.Flip(t, readertest.ShardPath(dir, 1), readertest.Offsets(t, readertest.ShardPath(dir, 1))[800]+12)
	for _, build := range pipelines {
		leavesNothing(t, func() { idsUntil(build(open(t, dir, Options{Memory: 1}))) })
	}
}

// Records of a block stay unchanged until it is released, while others are read.
func TestBlocksKeepTheirBytes(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900, 999, 900, 10, 900, 900)
	for name, build := range pipelines {
		s, err := build(open(t, dir, Options{Memory: 1})).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		check := func(b *pipeline.Block) {
			for _, r := range b.Records {
				if want := readertest.Numbered(int(r.File)%6, int(r.Number)); string(r.Data) != string(want) {
					t.Fatalf("%s: record %d of file %d has other bytes", name, r.Number, r.File)
				}
			}
		}
		var held []*pipeline.Block
		for i := 0; ; i++ {
			b, err := nextBlock(s)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if held = append(held, b); len(held) > 4 {
				j := i * 7 % len(held)
				check(held[j])
				held[j].Release()
				held = append(held[:j], held[j+1:]...)
			}
		}
		for _, b := range held {
			check(b)
			b.Release()
		}
		s.Close()
	}
}

// The raw path does not allocate per record, epoch after epoch.
func TestNoAllocationARecord(t *testing.T) {
	dir := t.TempDir()
	records := make([][]byte, 8_000)
	for i := range records {
		records[i] = make([]byte, 100)
	}
	for i := range 4 {
		readertest.WriteFile(t, readertest.ShardPath(dir, i), tfrecord.CompressionNone, records...)
	}
	for name, build := range map[string]func(*Set) Pipe{
		"interleave": func(s *Set) Pipe { return s.Interleave(4, 1) },
		"records":    (*Set).Records,
		"shuffle":    func(s *Set) Pipe { return s.Interleave(4, 1).Shuffle(1000) },
		"all":        func(s *Set) Pipe { return s.ShuffleAll(ShuffleAllOptions{}) },
	} {
		s, err := build(open(t, dir, Options{})).Repeat(-1).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		epoch := func() {
			for range 4 * len(records) {
				if _, err := s.Next(); err != nil {
					t.Fatal(err)
				}
			}
		}
		epoch()
		allocations := testing.AllocsPerRun(2, epoch)
		if each := allocations / float64(4*len(records)); each > 0.02 {
			t.Errorf("%s: %.3f allocations a record", name, each)
		}
		s.Close()
	}
}
