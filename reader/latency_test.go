package reader

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// active is a stream of records or elements.
type active interface {
	Receive() error
	Close() error
}

type stream[T any] interface {
	Next() (T, error)
	Close() error
}

type received[T any] struct{ stream[T] }

func (r received[T]) Receive() error {
	_, err := r.Next()
	return err
}

// slowTime is how long the functions of these tests wait for a record.
const slowTime = 20 * time.Millisecond

// A function that waits delays the first element by about one call, and the end of the context is seen
// after the calls under way. As many workers as were asked for call it at a time, whatever the
// Parallelism is.
func TestSlowFunctions(t *testing.T) {
	set := writeSet(t, Options{}, 2000)
	wait := func() { time.Sleep(slowTime) }
	remake := func(dst []byte, r Record) ([]byte, error) { wait(); return append(dst, r.Data...), nil }
	number := func(r Record) (int64, error) { return r.Number, nil }
	records := func(of func(Pipe) Pipe) func(context.Context, Pipe) (active, error) {
		return func(ctx context.Context, p Pipe) (active, error) {
			s, err := of(p).Start(ctx, From{})
			return received[Record]{s}, err
		}
	}
	elements := func(of func(Pipe) Flow[int64]) func(context.Context, Pipe) (active, error) {
		return func(ctx context.Context, p Pipe) (active, error) {
			s, err := of(p).Start(ctx, From{})
			return received[int64]{s}, err
		}
	}
	for _, c := range []struct {
		name    string
		workers int // calls at a time
		start   func(context.Context, Pipe) (active, error)
	}{
		{"Filter", 1, records(func(p Pipe) Pipe {
			return p.Filter(func(Record) (bool, error) { wait(); return true, nil })
		})},
		{"Resample", 1, records(func(p Pipe) Pipe {
			return Resample(p, func(Record) (int, error) { wait(); return 0, nil }, ResampleOptions{Initial: []float64{1}})
		})},
		{"MapData", 1, records(func(p Pipe) Pipe { return MapData(p, remake, MapDataOptions{Workers: 1}) })},
		{"MapData with 32", 32, records(func(p Pipe) Pipe { return MapData(p, remake, MapDataOptions{Workers: 32}) })},
		{"Map with 32", 32, elements(func(p Pipe) Flow[int64] {
			return Map(p, func(r Record) (int64, error) { wait(); return r.Number, nil }, MapOptions{Workers: 32})
		})},
		{"MapFlow", 1, elements(func(p Pipe) Flow[int64] {
			return Map(Map(p, number, MapOptions{}), func(n int64) (int64, error) { wait(); return n, nil }, MapOptions{Workers: 1})
		})},
		{"MapFlow with 32", 32, elements(func(p Pipe) Flow[int64] {
			return Map(Map(p, number, MapOptions{}), func(n int64) (int64, error) { wait(); return n, nil }, MapOptions{Workers: 32})
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began := time.Now()
				s, err := c.start(ctx, set.Records())
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				receive := func(n int) time.Duration {
					for range n {
						if err := s.Receive(); err != nil {
							t.Fatal(err)
						}
					}
					return time.Since(began)
				}
				if took := receive(1); took > 3*slowTime {
					t.Errorf("the first element comes after %v", took)
				}
				began = time.Now()
				n := 40 * c.workers
				if took, most := receive(n), 50*slowTime; took > most {
					t.Errorf("%d elements take %v, want %v at most with %d workers", n, took, most, c.workers)
				}
				began = time.Now()
				cancel()
				for s.Receive() == nil {
				}
				if took := time.Since(began); took > 5*slowTime/2 {
					t.Errorf("the end of the context is seen after %v", took)
				}
			})
		})
	}
}

// Filters that hand on parts of blocks, since some calls take long, give the records of any others, and
// each State continues with the next of them, also across records that are skipped.
func TestSlowFiltersResume(t *testing.T) {
	for _, seed := range torture.Sample(t, 8, torture.Seeds(40, 400)) {
		r := rand.New(rand.NewPCG(seed, 52))
		set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 1+r.IntN(40), r.IntN(40)), Options{SkipBad: SkipBad{Share: 1}})
		slow, bad := 2+r.Uint64N(8), 2+r.Uint64N(8)
		keep := func(name string, wait bool) func(Record) (bool, error) {
			return func(rec Record) (bool, error) {
				h := pipeline.Key(seed, uint64(len(name)), uint64(rec.File), uint64(rec.Number))
				if wait && h%slow == 0 {
					time.Sleep(2 * pipeline.PatienceTime)
				}
				if h>>8%bad == 0 {
					return false, errBadRecord
				}
				return h>>16%3 > 0, nil
			}
		}
		build := func(wait bool) Pipe {
			p := set.Interleave(2, 3)
			for _, name := range []string{"first", "second"} {
				p = p.Filter(keep(name, wait))
			}
			if seed%2 == 0 {
				p = p.Shuffle(5)
			}
			return p.Repeat(2)
		}
		synctest.Test(t, func(t *testing.T) {
			want := idsOf(t, build(false))
			s, err := build(true).Start(t.Context(), From{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { s.Close() }()
			for i, id := range want {
				if r.IntN(3) == 0 {
					state := through(t, s.State())
					s.Close()
					if s, err = build(true).Start(t.Context(), From{State: &state}); err != nil {
						t.Fatal(err)
					}
				}
				if rec, err := s.Next(); err != nil || idOf(rec) != id {
					t.Fatalf("seed %d, record %d of %d: number %d of file %d, %v; want %#x", seed, i, len(want), rec.Number, rec.File, err, id)
				}
			}
			if _, err := s.Next(); err != io.EOF {
				t.Fatalf("seed %d: after all records: %v", seed, err)
			}
		})
	}
}
