package reshape

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/internal/transfer"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestSortSamplesAPart sorts files of small records in several buckets, with the default memory,
// without reading all of them to find the cuts.
func TestSortSamplesAPart(t *testing.T) {
	t.Parallel()
	rng := torture.Rand(t)
	const files, records = 3, 4000
	for name, key := range map[string]func(id int64) int64{
		"any order":     func(int64) int64 { return rng.Int64N(1 << 20) },
		"nearly sorted": func(id int64) int64 { return id/10 + rng.Int64N(50) },
		"one value":     func(int64) int64 { return 7 },
	} {
		dir := t.TempDir()
		var paths []string
		keys := []int64{}
		for range files {
			paths = append(paths, settest.ExampleFile(t, filepath.Join(dir, string(rune('a'+len(paths)))+".tfrecord"), records, func(_ int, b *tfrecord.Builder) {
				id := int64(len(keys))
				keys = append(keys, key(id))
				b.Int64("id", id)
				b.Int64("key", keys[id])
				b.Bytes("noise", make([]byte, 500+rng.IntN(3000)))
			}))
		}
		out := filepath.Join(dir, "out")
		var progress Progress
		_, err := Reshard(context.Background(), paths, out, ReshardOptions{SortBy: "key", Options: Options{Progress: &progress}})
		settest.Check(t, err)
		if got := progress.Planned.Load(); got != files*records {
			t.Errorf("%s: %d records were planned to be read, want %d", name, got, files*records)
		}
		want := make([]int64, len(keys))
		for i := range want {
			want[i] = int64(i)
		}
		slices.SortStableFunc(want, func(a, b int64) int { return int(keys[a] - keys[b]) })
		if got := settest.IDsOf(t, out, "train", "id"); !slices.Equal(got, want) {
			t.Errorf("%s: the records are in another order", name)
		}
	}
}

// TestSortFetchesLargeRecords sorts large records of two splits, in several files each, by values
// some of which are equal, NaN or missing. They are read twice and written once, however little memory
// there is.
func TestSortFetchesLargeRecords(t *testing.T) {
	t.Parallel()
	rng := torture.Rand(t)
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	keys := []float64{} // by id
	want := map[string][]int64{}
	for _, split := range []string{"train", "val"} {
		files := 1 + rng.IntN(3)
		for i := range files {
			path := filepath.Join(dir, shard.Name{Dataset: "set", Split: split, Index: i, Count: files}.String())
			settest.ExampleFile(t, path, 1+rng.IntN(30), func(_ int, b *tfrecord.Builder) {
				id, key := int64(len(keys)), float64(rng.IntN(9)-4)
				switch rng.IntN(10) {
				case 0:
					key = math.Inf(1) // missing: after NaN
				case 1:
					key = 100
					b.Float("key", float32(math.NaN()))
				default:
					b.Float("key", float32(key))
				}
				keys = append(keys, key)
				want[split] = append(want[split], id)
				b.Int64("id", id)
				b.Bytes("noise", make([]byte, transfer.LeastFetched+rng.IntN(transfer.LeastFetched)))
			})
		}
	}
	var progress Progress
	o := Options{Memory: source.LeastMemory << rng.IntN(7), Workers: 1 + rng.IntN(4), Shards: 1 + rng.IntN(5), Progress: &progress}
	_, err := Reshard(t.Context(), []string{dir}, out, ReshardOptions{SortBy: "key", Options: o})
	settest.Check(t, err)
	if got, want := progress.Planned.Load(), 2*int64(len(keys)); got != want {
		t.Errorf("%d records were planned to be read, want %d", got, want)
	}
	for split, ids := range want {
		slices.SortStableFunc(ids, func(a, b int64) int { return cmp.Compare(keys[a], keys[b]) })
		if got := settest.IDsOf(t, out, split, "id"); !slices.Equal(got, ids) {
			t.Errorf("%s: %v, want %v", split, got, ids)
		}
	}
}

// TestSortFails has an operation of a sort fail, with shards that share buckets, or of records that
// are read one by one: the run ends with that error, whichever goroutine has it, and leaves nothing.
func TestSortFails(t *testing.T) {
	t.Parallel()
	rng := torture.Rand(t)
	file := func(name string, records, size int) string {
		return settest.ExampleFile(t, filepath.Join(t.TempDir(), name), records, func(_ int, b *tfrecord.Builder) {
			b.Int64("key", rng.Int64N(1000))
			b.Bytes("noise", make([]byte, size))
		})
	}
	small, large := file("small.tfrecord", 8000, 500), file("large.tfrecord", 70, transfer.LeastFetched)
	broken := errors.New("broken")
	for _, workers := range []int{1, 2, 8} {
		for _, shards := range []int{1, 7, 60} {
			in := small
			if rng.IntN(2) == 0 {
				in = large
			}
			out := filepath.Join(t.TempDir(), "out")
			o := ReshardOptions{SortBy: "key", Options: Options{Memory: 1 << 20, Workers: workers, Shards: shards}}
			var operations, fails atomic.Int64
			fails.Store(math.MaxInt64)
			ctx := inject.With(t.Context(), func(string) error {
				if operations.Add(1) == fails.Load() {
					return broken
				}
				return nil
			})
			_, err := Reshard(ctx, []string{in}, out, o)
			settest.Check(t, err)
			settest.Check(t, os.RemoveAll(out))
			fails.Store(1 + rng.Int64N(operations.Swap(0)/2)) // their number varies a little
			if _, err := Reshard(ctx, []string{in}, out, o); !errors.Is(err, broken) {
				t.Errorf("%d workers, %d shards: operation %d fails: %v", workers, shards, fails.Load(), err)
			}
			settest.NothingAt(t, out)
		}
	}
}

// TestSortsOfOddRecords sorts records of 0 bytes to 1 MB, some without the feature or a value of it and
// many with the same one, in buckets that shards share or, if most are large, one by one from their
// file, and compares with slices.SortStableFunc.
func TestSortsOfOddRecords(t *testing.T) {
	t.Parallel()
	rng := torture.Rand(t)
	for range 12 {
		type sorted struct {
			key    []byte
			none   bool // there is no key
			record string
		}
		var all []sorted
		var b tfrecord.Builder
		longest := []int{0, 2, 12, 400}[rng.IntN(4)]
		in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
		files, records, size := 1+rng.IntN(3), rng.IntN(1500), 1+rng.IntN(1000)
		if rng.IntN(3) == 0 {
			records, size = records/15, 6*transfer.LeastFetched
		}
		settest.WriteSet(t, in, files, func(yield func([]byte)) {
			for range records {
				b.Reset()
				r := sorted{none: true}
				switch rng.IntN(10) {
				case 0: // 0 bytes
				case 1:
					b.Int64("other", int64(len(all)))
				case 2:
					b.Bytes("key")
				default:
					r.none = false
					r.key = make([]byte, rng.IntN(longest+1))
					for i := range r.key {
						r.key[i] = byte(rng.IntN(3) * 127)
					}
					b.Bytes("key", r.key)
					b.Int64("id", int64(len(all)))
					b.Bytes("noise", make([]byte, rng.IntN(size)))
				}
				if rng.IntN(1500) == 0 {
					b.Bytes("large", make([]byte, 1<<20))
				}
				r.record = string(b.Append(nil))
				all = append(all, r)
				yield([]byte(r.record))
			}
		})
		settest.RemoveManifest(t, in) // which says nothing of the features
		if !slices.ContainsFunc(all, func(r sorted) bool { return !r.none }) {
			continue // it is refused
		}
		slices.SortStableFunc(all, func(a, b sorted) int {
			switch {
			case a.none == b.none:
				return bytes.Compare(a.key, b.key)
			case a.none:
				return 1
			}
			return -1
		})
		// The few records of a file may have no feature in common with those of another.
		o := Options{Memory: source.LeastMemory << rng.IntN(7), Workers: 1 + rng.IntN(8), Shards: 1 + rng.IntN(60), Union: true}
		_, err := Reshard(t.Context(), []string{in}, out, ReshardOptions{SortBy: "key", Options: o})
		settest.Check(t, err)
		sources, err := shard.Expand(t.Context(), []string{out}, shard.ExpandOptions{})
		settest.Check(t, err)
		rest := all
		for _, s := range sources {
			r, err := shard.Open(t.Context(), s.Path, tfrecord.ReaderOptions{})
			settest.Check(t, err)
			for data, err := range r.All() {
				settest.Check(t, err)
				if len(rest) == 0 || string(data) != rest[0].record {
					t.Fatalf("%+v: record %d of %d is another one", o, len(all)-len(rest), len(all))
				}
				rest = rest[1:]
			}
			settest.Check(t, r.Close())
		}
		if len(rest) > 0 {
			t.Fatalf("%+v: the last %d of %d records are missing", o, len(rest), len(all))
		}
	}
}
