package reader

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// epochRecords is the number of records in an epoch of the endless flows.
const epochRecords = 400

// endless are flows that read records forever, ten at a time. Their numbers of workers are fixed:
// tuned ones keep changing, and memory with them.
func endless(t testing.TB) map[string]Flow[[]int64] {
	set := writeRecords(t, Options{Memory: 1 << 20, Seed: 1}, 4, func(file int) (records [][]byte) {
		for i := range epochRecords / 4 {
			records = append(records, settest.Example(func(b *tfrecord.Builder) {
				b.Bytes("text", make([]byte, i%100))
				b.Int64(DefaultLabelKey, int64(1000*file+i))
			}))
		}
		return records
	})
	schema := columns.Schema{{Key: DefaultLabelKey, Kind: tfrecord.KindInt64}, {Key: "text", Kind: tfrecord.KindBytes, Ragged: true}}
	columns := func(p Pipe) Flow[[]int64] {
		f := ParseColumns(p.Repeat(-1), ColumnSpec{Schema: schema, Batch: 10, Workers: 2})
		return Map(f, func(b *ColumnBatch) ([]int64, error) { return b.Get(DefaultLabelKey).Int64s, nil }, MapOptions{Workers: 2}).Prefetch(2)
	}
	return map[string]Flow[[]int64]{
		"interleave":     columns(set.Interleave(3, 2)),
		"shuffle":        columns(set.Interleave(3, 2).Shuffle(300)),
		"all":            columns(set.ShuffleAll(ShuffleAllOptions{})),
		"cache":          columns(set.Interleave(3, 2).Cache(CacheOptions{}).Shuffle(300)),
		"cache on disk":  columns(set.Interleave(3, 2).Cache(CacheOptions{Dir: t.TempDir()}).Shuffle(300)),
		"partial cache":  columns(set.Interleave(3, 2).Cache(CacheOptions{Limit: 20_000, Partial: true})),
		"cut off cache":  columns(set.Interleave(3, 2).Cache(CacheOptions{Dir: t.TempDir()}).Take(epochRecords)),
		"map, prefetch":  columns(again(set.Interleave(3, 2)).Prefetch(4)),
		"map, then list": Batch(Map(set.Interleave(3, 2).Repeat(-1), label, MapOptions{Workers: 2}), 10, BatchOptions{}),
	}
}

// usage is the resources of a process.
type usage struct {
	heap              int64 // bytes in use, after collecting garbage
	goroutines, files int
}

func (u usage) String() string {
	return fmt.Sprintf("%d KiB, %d goroutines, %d files", u.heap>>10, u.goroutines, u.files)
}

func usageNow() usage {
	var m runtime.MemStats
	runtime.GC() // twice: finalizers
	runtime.GC()
	runtime.ReadMemStats(&m)
	return usage{int64(m.HeapAlloc), runtime.NumGoroutine(), openFiles()}
}

// epochsOf runs a flow of ten-record batches, and returns the usage after each of the epochs.
func epochsOf(t testing.TB, f Flow[[]int64], epochs ...int) (all []usage) {
	t.Helper()
	r, err := f.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	done := 0
	for _, epoch := range epochs {
		for ; done < epoch*epochRecords; done += 10 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, usageNow())
	}
	return all
}

// TestSteadyOverEpochs compares the 5th of a hundred epochs with the last one.
func TestSteadyOverEpochs(t *testing.T) {
	race.Skip(t)
	for name, f := range endless(t) {
		u := epochsOf(t, f, 5, 100)
		// A block leaked in each epoch would be more than 2 MiB. Less may be a queue that is fuller
		// than before.
		if u[1].heap > u[0].heap+1<<20 || u[1].goroutines > u[0].goroutines+3 || u[1].files > u[0].files+4 {
			t.Errorf("%s: %v after 5 epochs, %v after 100", name, u[0], u[1])
		}
		t.Logf("%s: %v after 5 epochs, %v after 100", name, u[0], u[1])
	}
}

// BenchmarkHundredEpochs reports the usage after the first epoch, and after a hundred:
//
//	go test ./reader -run '^$' -bench HundredEpochs -benchtime 1x
func BenchmarkHundredEpochs(b *testing.B) {
	for name, f := range endless(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				u := epochsOf(b, f, 1, 100)
				b.ReportMetric(float64(u[0].heap), "heap-1-B")
				b.ReportMetric(float64(u[1].heap), "heap-100-B")
				b.ReportMetric(float64(u[1].goroutines-u[0].goroutines), "goroutines-more")
				b.ReportMetric(float64(u[1].files-u[0].files), "files-more")
			}
		})
	}
}

// Epoch counts the passes of Repeat, in both kinds of streams, from where they begin, resume, and move
// to the next epoch.
func TestEpochCountsPasses(t *testing.T) {
	const records = 30
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, records), Options{BatchWithinEpoch: true})
	for name, c := range map[string]struct {
		times  int
		passes int64 // in an epoch
	}{"once": {1, 1}, "three times": {3, 3}, "for ever": {-1, 1}} {
		pipe := set.Records().Repeat(c.times)
		elements := Map(pipe, func(r Record) (int32, error) { return r.Epoch, nil }, MapOptions{})
		for epoch := range int64(3) {
			s, err := pipe.Start(t.Context(), From{Epoch: epoch})
			settest.Check(t, err)
			f, err := elements.Start(t.Context(), From{Epoch: epoch})
			settest.Check(t, err)
			check := func(want int64) {
				t.Helper()
				if s.Epoch() != want || f.Epoch() != want {
					t.Fatalf("%s, epoch %d: Epoch is %d and %d, want %d", name, epoch, s.Epoch(), f.Epoch(), want)
				}
			}
			check(epoch * c.passes)
			for n := range int64(2 * records) {
				r, err := s.Next()
				if c.times == 1 && n == records {
					break
				}
				settest.Check(t, err)
				pass, err := f.Next()
				settest.Check(t, err)
				if want := epoch*c.passes + n/records; int64(r.Epoch) != want || int64(pass) != want {
					t.Fatalf("%s, epoch %d: record %d is of pass %d and %d, want %d", name, epoch, n, r.Epoch, pass, want)
				}
				check(int64(r.Epoch))
			}
			settest.Check(t, s.NextEpoch())
			settest.Check(t, f.NextEpoch())
			check((epoch + 1) * c.passes)
			s.Close()
			f.Close()
		}
	}
}
