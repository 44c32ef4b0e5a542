package reader

import (
	"bytes"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

// After a pipeline has released everything, its budget is at zero.
func TestNothingStaysInTheBudget(t *testing.T) {
	for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip} {
		dir := readertest.WriteShards(t, c, 900, 0, 900, 10, 900)
		for name, build := range pipelines {
			if c != tfrecord.CompressionNone && name[:3] == "all" {
				continue
			}
			for _, n := range []int{0, 1, 700, 1 << 30} {
				s, err := build(open(t, dir, Options{Memory: 1 << 16})).Start(t.Context(), From{})
				if err != nil {
					t.Fatal(err)
				}
				for range n {
					if _, err := s.Next(); err != nil {
						break
					}
				}
				s.Close()
				if m := s.Report().Memory; m.InFlight != 0 || s.run.(*stages.Stream).Run.Budget.Reading != 0 {
					t.Errorf("%s, %v, after %d records: %+v, %d for reading", name, c, n, m, s.run.(*stages.Stream).Run.Budget.Reading)
				}
			}
		}
	}
}

// consume reads all of a flow and closes it; each element is used before the next is requested.
func consume[T any](t *testing.T, f Flow[T], use func(*Stream[T])) MemoryStats {
	t.Helper()
	r, err := f.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	for err = nil; err == nil; {
		if _, err = r.Next(); err == nil {
			use(r)
		}
	}
	if err != io.EOF {
		t.Error(err)
	}
	r.Close()
	m := r.Report().Memory
	if m.InFlight != 0 {
		t.Errorf("%d bytes are left", m.InFlight)
	}
	return m
}

// largeExamples writes files of Examples with so many bytes in each.
func largeExamples(t *testing.T, c tfrecord.Compression, files, records, size int) string {
	dir := t.TempDir()
	for i := range files {
		var all [][]byte
		for k := range records {
			all = append(all, settest.Example(func(b *tfrecord.Builder) {
				b.Bytes("x", bytes.Repeat([]byte{byte(i), byte(k)}, size/2))
			}))
		}
		readertest.WriteFile(t, readertest.ShardPath(dir, i), c, all...)
	}
	return dir
}

// heapGauge measures how much more memory is in use than at its start, while the consumer pauses.
type heapGauge struct {
	before uint64
	turns  int
	most   int64
}

func newHeapGauge() *heapGauge {
	g := &heapGauge{}
	g.before = g.inUse()
	return g
}

func (g *heapGauge) inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// look is called between two elements; every eighth call measures. Memory released during a
// collection counts until the next one: an amount above enough is measured again until it is
// stable.
func (g *heapGauge) look(enough int64) {
	if g.turns++; g.turns%8 != 1 {
		return
	}
	pause := time.Millisecond
	for {
		time.Sleep(pause) // wait until everything that can be made in advance is
		n := int64(g.inUse()) - int64(g.before)
		if n <= enough || pause > 200*time.Millisecond {
			g.most = max(g.most, n)
			return
		}
		pause *= 2
	}
}

// However slow the consumer and however large the records, memory stays within the budget, both as
// accounted and on the heap.
func TestMemoryIsBounded(t *testing.T) {
	const limit, size = 24 << 20, 1 << 20
	for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip} {
		dir := largeExamples(t, c, 8, 6, size)
		o := Options{Memory: limit, Parallelism: 8}
		flows := map[string]func(*testing.T, *Set, func(peak func() int64)) MemoryStats{
			"batches": func(t *testing.T, s *Set, slow func(peak func() int64)) MemoryStats {
				return consume(t, Batch(s.Interleave(6, 1), 1, BatchOptions{}).Prefetch(0), func(r *Stream[[]Record]) { slow(func() int64 { return r.Report().Memory.Peak }) })
			},
			"mapped": func(t *testing.T, s *Set, slow func(peak func() int64)) MemoryStats {
				return consume(t, Batch(Map(s.Interleave(6, 1), func(r Record) (byte, error) { return r.Data[9], nil }, MapOptions{}), 2, BatchOptions{}).Prefetch(20),
					func(r *Stream[[]byte]) { slow(func() int64 { return r.Report().Memory.Peak }) })
			},
			"columns": func(t *testing.T, s *Set, slow func(peak func() int64)) MemoryStats {
				return consume(t, ParseColumns(s.Records(), ColumnSpec{}).Prefetch(0), func(r *Stream[*ColumnBatch]) { slow(func() int64 { return r.Report().Memory.Peak }) })
			},
			"all": func(t *testing.T, s *Set, slow func(peak func() int64)) MemoryStats {
				if c != tfrecord.CompressionNone {
					t.Skip("compressed files have no order of numbers")
				}
				return consume(t, Batch(s.ShuffleAll(ShuffleAllOptions{}), 1, BatchOptions{}), func(r *Stream[[]Record]) { slow(func() int64 { return r.Report().Memory.Peak }) })
			},
		}
		for name, run := range flows {
			t.Run(name+" "+c.String(), func(t *testing.T) {
				set := open(t, dir, o)
				if _, err := set.Fingerprint(t.Context()); err != nil {
					t.Fatal(err)
				}
				slack := int64(2 << 20) // goroutines, files, decompressors
				if c != tfrecord.CompressionNone {
					slack += 6 * size // the first large record of each file
				}
				heap := newHeapGauge()
				m := run(t, set, func(peak func() int64) {
					// However busy the machine, so much is made in advance sooner or later.
					testwait.Until(func() bool { return peak() >= limit/4 })
					heap.look(limit + slack)
				})
				if m.Peak > limit || m.Limit != limit || heap.most > limit+slack {
					t.Errorf("%+v accounted, %d bytes of heap; want %d at most", m, heap.most, limit)
				}
			})
		}
	}
}

// TestHeldMemoryIsBounded lets shuffles and Map functions hold much memory: read-ahead and other
// stages make room for it, both as accounted and on the heap.
func TestHeldMemoryIsBounded(t *testing.T) {
	const limit, size = 24 << 20, 1 << 20
	// Records that need less than an eighth of the limit, including their blocks.
	dir := largeExamples(t, tfrecord.CompressionNone, 8, 6, size/2)
	tiny, many := readertest.WriteShards(t, tfrecord.CompressionNone, 60), readertest.WriteShards(t, tfrecord.CompressionNone, 990)
	large := func(n int) MapOptions {
		return MapOptions{Workers: n, Size: func(v any) int64 { return int64(cap(v.([]byte))) }}
	}
	grown := func(r Record) ([]byte, error) { return make([]byte, size), nil }
	again := func(p []byte) ([]byte, error) { return make([]byte, len(p)), nil }
	for name, c := range map[string]struct {
		flow func(o Options) Flow[[]byte]
		held int64 // at least, at some point
	}{
		"shuffle": {func(o Options) Flow[[]byte] {
			return Map(open(t, dir, o).Interleave(6, 1).Shuffle(16), func(r Record) ([]byte, error) { return r.Data, nil }, MapOptions{Workers: 2}).Prefetch(20)
		}, 8 * size},
		"shuffle of small ones": {func(o Options) Flow[[]byte] {
			return Map(open(t, many, o).Records().Shuffle(50), func(r Record) ([]byte, error) { return r.Data, nil }, MapOptions{Workers: 2}).Prefetch(20)
		}, 50 * 100},
		"map": {func(o Options) Flow[[]byte] {
			return Map(open(t, tiny, o).Records().Take(64), grown, large(4)).Prefetch(50)
		}, 0},
		"map twice": {func(o Options) Flow[[]byte] {
			return Map(Map(open(t, tiny, o).Records(), func(r Record) ([]byte, error) { return make([]byte, size/32), nil }, large(2)), again, large(2)).Prefetch(50)
		}, 0},
		"map of a flow": {func(o Options) Flow[[]byte] {
			f := Map(open(t, tiny, o).Records(), func(r Record) ([]byte, error) { return r.Data, nil }, MapOptions{Workers: 2})
			return Map(f, func([]byte) ([]byte, error) { return make([]byte, size), nil }, large(4)).Prefetch(50)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.flow(Options{Memory: limit, Parallelism: 4})
			const slack = 2 << 20 // goroutines, files
			heap, held := newHeapGauge(), int64(0)
			m := consume(t, f, func(r *Stream[[]byte]) {
				held = max(held, r.Report().Memory.Held)
				heap.look(limit + slack)
			})
			if m.Peak > limit || heap.most > limit+slack {
				t.Errorf("%+v accounted, %d bytes of heap; want %d at most", m, heap.most, limit)
			}
			if held < c.held || m.Held != 0 {
				t.Errorf("%d bytes were held, %d in the end; want %d at least, and none", held, m.Held, c.held)
			}
		})
	}
}

// The minimum budgets that are documented to be kept, with small records.
func TestLeastBudgets(t *testing.T) {
	const files = 40
	dir := t.TempDir()
	records := slices.Repeat([][]byte{settest.Example(func(b *tfrecord.Builder) { b.Bytes("x", make([]byte, 184)) })}, 1000)
	for i := range files {
		readertest.WriteFile(t, readertest.ShardPath(dir, i), tfrecord.CompressionNone, records...)
	}
	for cycle, limit := range map[int]int64{1: 4 << 20, files: files * 128 << 10} {
		for name, pipe := range map[string]Pipe{
			"interleave": open(t, dir, Options{Memory: limit}).Interleave(cycle, 1),
			"shuffle":    open(t, dir, Options{Memory: limit}).Interleave(cycle, 1).Shuffle(1000),
		} {
			m := consume(t, ParseColumns(pipe, ColumnSpec{Batch: 128}).Prefetch(0), func(*Stream[*ColumnBatch]) {})
			if m.Peak > limit {
				t.Errorf("%s of %d files: %d bytes at most; want %d", name, cycle, m.Peak, limit)
			}
		}
	}
}

// Elements that are larger than the whole budget are still returned, one at a time.
func TestMoreThanTheBudget(t *testing.T) {
	const size = 1 << 20
	for _, c := range []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionZstd} {
		dir := largeExamples(t, c, 4, 3, size)
		o := Options{Memory: size / 2}
		for name, pipe := range map[string]Pipe{
			"interleave": open(t, dir, o).Interleave(4, 1),
			"shuffle":    open(t, dir, o).Interleave(2, 1).Shuffle(3),
			"all":        open(t, dir, o).ShuffleAll(ShuffleAllOptions{}),
		} {
			if name == "all" && c != tfrecord.CompressionNone {
				continue
			}
			n := 0
			m := consume(t, ParseColumns(pipe, ColumnSpec{Batch: 1}).Prefetch(0), func(r *Stream[*ColumnBatch]) { n++ })
			// The consumer briefly has two, one is ready and one is being made, all with their
			// records; one or two are being read, and decompressors hold one each.
			limit := int64(12 * size)
			if c != tfrecord.CompressionNone {
				limit += 4 * size
			}
			if name == "shuffle" {
				limit += 3 * size // in its buffer
			}
			if n != 12 || m.Peak > limit {
				t.Errorf("%s, %v: %d batches, %d bytes at most; want %d", name, c, n, m.Peak, limit)
			}
		}
	}
}

func TestOptionsOfBudgets(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 3)
	for _, o := range []Options{{Parallelism: 1 << 20}, {Readers: -1}, {Readers: 1 << 20}} {
		if _, err := Open(t.Context(), dir, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	set := open(t, dir, Options{})
	if m := set.files.Opts.Memory; m > pipeline.MostMemory || m > memory.Limit()/4 || m < 16<<20 {
		t.Errorf("a default of %d bytes, of %d", m, memory.Limit())
	}
	old := debug.SetMemoryLimit(256 << 20)
	defer debug.SetMemoryLimit(old)
	if m := memory.Limit(); m > 256<<20 {
		t.Errorf("%d bytes, and GOMEMLIMIT is less", m)
	}
}
