package assign

import (
	"math"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestSortKeysOfManyWorkers has workers see the first value at the same time: values of one kind
// must not be reported as values of several kinds.
func TestSortKeysOfManyWorkers(t *testing.T) {
	var b tfrecord.Builder
	b.Int64("k", 1)
	data := b.Append(nil)
	for range 30_000 {
		s := &Sorted{Key: "k"}
		var workers sync.WaitGroup
		var ready atomic.Int32
		for range 2 {
			workers.Go(func() {
				r := &source.Record{Data: data, File: new(source.Input)}
				r.Parse()
				ready.Add(1)
				for range 1000 {
					if ready.Load() == 2 {
						break
					}
				}
				if _, err := s.AppendKey(nil, r); err != nil {
					t.Error(err)
				}
			})
		}
		workers.Wait()
		if t.Failed() {
			return
		}
	}
}

// TestSortableFloats compares the order of keys with that of floats.
func TestSortableFloats(t *testing.T) {
	var zero float32
	values := []float32{-1 / zero, -3e38, -1, -1e-45, 0, 1e-45, 1, 3e38, 1 / zero, zero / zero}
	for i := 1; i < len(values); i++ {
		if sortableFloat(values[i-1]) >= sortableFloat(values[i]) {
			t.Errorf("%v is not before %v", values[i-1], values[i])
		}
	}
	if sortableFloat(-zero) != sortableFloat(0) || sortableFloat(-values[9]) != sortableFloat(values[9]) {
		t.Error("zeros, or NaNs, differ by their sign")
	}
}

// TestQuickValue compares the fast path with the strict one, also for broken records.
func TestQuickValue(t *testing.T) {
	rng := torture.Rand(t)
	quick := 0
	for range 20_000 {
		var b tfrecord.Builder
		if rng.IntN(2) == 0 {
			b.Int64("a", rng.Int64()>>rng.IntN(64), rng.Int64())
		}
		switch rng.IntN(6) {
		case 0:
			b.Int64("key", rng.Int64()>>rng.IntN(64))
		case 1:
			b.Int64("key", -rng.Int64())
		case 2:
			b.Float("key", []float32{0, float32(math.Copysign(0, -1)), -3.5, 1e9, float32(math.NaN())}[rng.IntN(5)], 2)
		case 3:
			b.Bytes("key", make([]byte, rng.IntN(200)))
		case 4:
			b.Bytes("key", []byte("first"), []byte("second"))
		}
		b.String("text", "some text")
		data := b.Append(nil)
		if rng.IntN(3) == 0 {
			data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
		}
		got, ok := quickValue(data, "key")
		if !ok {
			continue
		}
		quick++
		rec := source.Record{Data: data}
		e, err := rec.Parse()
		if err != nil {
			t.Fatalf("%q is malformed: %v", data, err)
		}
		want := plainValue(e, "key")
		if !reflect.DeepEqual(got, want) && (len(got.bytes)+len(want.bytes) > 0 || got.kind != want.kind || got.bits != want.bits) {
			t.Fatalf("%q: %+v, want %+v", data, got, want)
		}
	}
	if quick < 5000 {
		t.Errorf("%d records went the quick way", quick)
	}
}
