package reader

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// slowTime is how long the functions of these tests wait for a record.
const slowTime = 20 * time.Millisecond

// A function that waits delays the first element by about one call, and the end of the context is seen
// after the calls under way. As many workers as were asked for call it at a time, whatever the
// Parallelism is.
func TestSlowFunctions(t *testing.T) {
	dir := writeSet(t, Options{}, 2000)
	wait := func() { time.Sleep(slowTime) }
	remake := func(dst []byte, r Record) ([]byte, error) { wait(); return append(dst, r.Data...), nil }
	number := func(r Record) (int64, error) { return r.Number, nil }
	type next func() error
	records := func(of func(Pipe) Pipe) func(ctx context.Context, p Pipe) (next, func() error, error) {
		return func(ctx context.Context, p Pipe) (next, func() error, error) {
			s, err := of(p).Start(ctx)
			if err != nil {
				return nil, nil, err
			}
			return func() error { _, err := s.Next(); return err }, s.Close, nil
		}
	}
	elements := func(of func(Pipe) Flow[int64]) func(ctx context.Context, p Pipe) (next, func() error, error) {
		return func(ctx context.Context, p Pipe) (next, func() error, error) {
			s, err := of(p).Start(ctx)
			if err != nil {
				return nil, nil, err
			}
			return func() error { _, err := s.Next(); return err }, s.Close, nil
		}
	}
	for _, c := range []struct {
		name    string
		workers int // calls at a time
		start   func(ctx context.Context, p Pipe) (next, func() error, error)
	}{
		{"Filter", 1, records(func(p Pipe) Pipe {
			return p.Filter("f", func(Record) (bool, error) { wait(); return true, nil })
		})},
		{"Resample", 1, records(func(p Pipe) Pipe {
			return p.Resample("r", func(Record) (int, error) { wait(); return 0, nil }, ResampleOptions{Initial: []float64{1}})
		})},
		{"Pipe.Map", 1, records(func(p Pipe) Pipe { return p.Map("m", remake, MapOptions{Workers: 1}) })},
		{"Pipe.Map with 32", 32, records(func(p Pipe) Pipe { return p.Map("m", remake, MapOptions{Workers: 32}) })},
		{"Map with 32", 32, elements(func(p Pipe) Flow[int64] {
			return Map(p, func(r Record) (int64, error) { wait(); return r.Number, nil }, MapOptions{Workers: 32})
		})},
		{"MapFlow", 1, elements(func(p Pipe) Flow[int64] {
			return MapFlow(Map(p, number, MapOptions{}), func(n int64) (int64, error) { wait(); return n, nil }, MapOptions{Workers: 1})
		})},
		{"MapFlow with 32", 32, elements(func(p Pipe) Flow[int64] {
			return MapFlow(Map(p, number, MapOptions{}), func(n int64) (int64, error) { wait(); return n, nil }, MapOptions{Workers: 32})
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began := time.Now()
				next, closeAll, err := c.start(ctx, dir.Records())
				if err != nil {
					t.Fatal(err)
				}
				defer closeAll()
				receive := func(n int) time.Duration {
					for range n {
						if err := next(); err != nil {
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
				for next() == nil {
				}
				if took := time.Since(began); took > 5*slowTime/2 {
					t.Errorf("the end of the context is seen after %v", took)
				}
			})
		})
	}
}
