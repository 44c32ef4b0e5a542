package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

// shuffleModel draws each element from a buffer, and puts the next one into its slot; at the end, the last
// one of the buffer.
func shuffleModel(in []int, size int, draws pipeline.Draws) (out []int) {
	buffer := slices.Clone(in[:min(size, len(in))])
	for next := len(buffer); len(buffer) > 0; next++ {
		i := draws.Below(int64(len(out)), len(buffer))
		out = append(out, buffer[i])
		if next < len(in) {
			buffer[i] = in[next]
			continue
		}
		last := len(buffer) - 1
		buffer[i] = buffer[last]
		buffer = buffer[:last]
	}
	return out
}

func TestShuffleOfElements(t *testing.T) {
	set := writeSet(t, Options{Seed: 11}, 40, 0, 37)
	number := func(r Record) (int, error) { return int(r.File)*100 + int(r.Number), nil }
	in := drain(t, Map(set.Records(), number, MapOptions{}))
	for _, size := range []int{1, 2, 7, 76, 77, 78, 1000} {
		for _, same := range []bool{false, true} {
			s := startedFlow(t, Map(set.Records(), number, MapOptions{}).ShuffleWith(ShuffleOptions{Buffer: size, SameEachEpoch: same}))
			for epoch := range uint64(3) {
				if epoch > 0 {
					if err := s.NextEpoch(); err != nil {
						t.Fatal(err)
					}
				}
				var got []int
				for v, err := range s.All() {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, v)
				}
				drawn := epoch
				if same {
					drawn = 0
				}
				key := pipeline.Key(pipeline.Key(11, pipeline.ForShuffle, 1<<32+2), drawn)
				if want := shuffleModel(in, size, pipeline.Draws(key)); !slices.Equal(got, want) {
					t.Errorf("buffer %d, same %t, epoch %d:\ngot  %v\nwant %v", size, same, epoch, got, want)
				}
			}
		}
	}
	if _, err := Map(set.Records(), number, MapOptions{}).Shuffle(0).Start(t.Context(), From{}); err == nil {
		t.Error("a buffer of 0")
	}
	within := writeSet(t, Options{BatchWithinEpoch: true}, 9)
	_, err := collectAll(t.Context(), Map(within.Records(), number, MapOptions{}).Repeat(2).Shuffle(4))
	if err == nil || !strings.Contains(err.Error(), "repeat last") {
		t.Errorf("a shuffle of two passes with BatchWithinEpoch: %v", err)
	}
}

func collectAll[T any](ctx context.Context, f Flow[T]) (all []T, err error) {
	for v, err := range f.All(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// A Repeat of elements is the epochs of the flow before, one after another.
func TestRepeatOfElements(t *testing.T) {
	set := writeSet(t, Options{Seed: 2}, 5, 6)
	batches := func() Flow[string] {
		return Map(Batch(set.Interleave(2, 1).Shuffle(4), 3, BatchOptions{}), func(b []Record) (string, error) {
			var ids []string
			for _, r := range b {
				ids = append(ids, fmt.Sprint(r.Epoch, r.File, r.Number))
			}
			return strings.Join(ids, " "), nil
		}, MapOptions{})
	}
	for _, times := range []int{0, 1, 2, 3, -1} {
		single, repeated := startedFlow(t, batches()), startedFlow(t, batches().Repeat(times))
		passes := times
		if times < 0 {
			passes = 4
		}
		for epoch := range 3 {
			if times < 0 && epoch > 0 {
				break
			}
			if epoch > 0 {
				if err := errors.Join(repeated.NextEpoch(), single.NextEpoch()); times > 0 && err != nil {
					t.Fatal(err)
				}
			}
			for pass := range passes {
				if pass > 0 {
					if err := single.NextEpoch(); err != nil {
						t.Fatal(err)
					}
				}
				for want, err := range single.All() {
					if err != nil {
						t.Fatal(err)
					}
					got, err := repeated.Next()
					if err != nil || got != want || repeated.Epoch() != int64(epoch*passes+pass) {
						t.Fatalf("%d times, epoch %d, pass %d: got %q (epoch %d), %v; want %q", times, epoch, pass, got, repeated.Epoch(), err, want)
					}
				}
			}
			if _, err := repeated.Next(); times >= 0 && err != io.EOF {
				t.Errorf("%d times: after the last pass: %v", times, err)
			}
		}
	}
	if all := drain(t, batches().Filter(func(string) (bool, error) { return false, nil }).Repeat(-1)); len(all) > 0 {
		t.Errorf("%q of nothing", all)
	}
	if _, err := batches().Repeat(-2).Start(t.Context(), From{}); err == nil {
		t.Error("-2 times")
	}
}

// Unordered results are all there is, in some order.
func TestUnorderedElements(t *testing.T) {
	set := writeSet(t, Options{}, 300)
	twice := func(n int64) (int64, error) { return 2 * n, nil }
	f := Map(Map(set.Records(), func(r Record) (int64, error) { return r.Number, nil }, MapOptions{}), twice, MapOptions{Unordered: true, Workers: 5})
	s := startedFlow(t, f.Repeat(2))
	for epoch := range 2 {
		if epoch > 0 {
			if err := s.NextEpoch(); err != nil {
				t.Fatal(err)
			}
		}
		var got []int64
		for v, err := range s.All() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
		slices.Sort(got)
		for i, v := range got {
			if len(got) != 600 || v != int64(i/2*2) {
				t.Fatalf("epoch %d: %d elements: %v", epoch, len(got), got)
			}
		}
	}
	odd := errors.New("odd")
	failing := Map(f, func(n int64) (int64, error) { return n, odd }, MapOptions{Unordered: true})
	if _, err := collectAll(t.Context(), failing); !errors.Is(err, odd) {
		t.Errorf("an error of the function: %v", err)
	}
}

// Close may be called while another goroutine waits in Next, whatever the stages: here Next would wait
// forever, as a filter drops everything.
func TestCloseWhileNextWaits(t *testing.T) {
	set := writeSet(t, Options{}, 20, 30)
	var dropped atomic.Int64
	none := func(int64) (bool, error) { dropped.Add(1); return false, nil }
	noRecord := func(Record) (bool, error) { dropped.Add(1); return false, nil }
	number := func(r Record) (int64, error) { return r.Number, nil }
	numbers := func(p Pipe) Flow[int64] { return Map(p, number, MapOptions{Workers: 2}) }
	same := func(n int64) (int64, error) { return n, nil }
	endless := set.Interleave(2, 1).Shuffle(5).Repeat(-1)
	for name, closesNext := range map[string]func(*testing.T, *atomic.Int64){
		"records":          nextAndClose(endless.Filter(noRecord)),
		"records, batch":   nextAndClose(Batch(endless.Filter(noRecord), 3, BatchOptions{})),
		"records, map":     nextAndClose(numbers(endless.Filter(noRecord))),
		"records, columns": nextAndClose(ParseColumns(endless.Filter(noRecord), ColumnSpec{Schema: columns.Schema{{Key: "x", Kind: tfrecord.KindInt64}}, Batch: 2})),
		"prefetch":         nextAndClose(endless.Prefetch(2).Filter(noRecord).Prefetch(1)),
		"map":              nextAndClose(numbers(endless).Filter(none)),
		"map twice":        nextAndClose(Map(numbers(endless).Filter(none), same, MapOptions{})),
		"unordered":        nextAndClose(Map(numbers(endless), same, MapOptions{Unordered: true}).Filter(none)),
		"repeat":           nextAndClose(numbers(set.Records()).Repeat(-1).Filter(none)),
		"shuffle, repeat":  nextAndClose(numbers(set.Records()).Shuffle(7).Repeat(-1).Filter(none)),
		"repeat, shuffle":  nextAndClose(numbers(set.Records()).Repeat(-1).Filter(none).Shuffle(3)),
		"cache, repeat":    nextAndClose(numbers(set.Records()).Cache(CacheOptions{}).Repeat(-1).Filter(none)),
		"filling a cache":  nextAndClose(numbers(endless).Filter(none).Cache(CacheOptions{})),
		"batch, unbatch":   nextAndClose(Unbatch(Batch(numbers(endless), 4, BatchOptions{})).Filter(none)),
		"buckets": nextAndClose(BucketByLength(numbers(endless).Filter(none), func(int64) int { return 1 }, BucketOptions{
			Boundaries: []int{3}, BatchSizes: []int{2, 2},
		})),
		"elements, prefetch": nextAndClose(numbers(endless).Filter(none).Prefetch(2)),
		"skip":               nextAndClose(numbers(endless).Filter(none).Skip(1)),
		"enumerate":          nextAndClose(Enumerate(endless.Filter(noRecord))),
	} {
		t.Run(name, func(t *testing.T) {
			dropped.Store(0)
			leavesNothing(t, func() { closesNext(t, &dropped) })
		})
	}
}

// nextAndClose returns a function that closes the stream of a flow while Next waits, some time after the
// filter began to drop.
func nextAndClose[T any](f Flow[T]) func(*testing.T, *atomic.Int64) {
	return func(t *testing.T, dropped *atomic.Int64) {
		s, err := f.Start(context.Background(), From{})
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error)
		go func() {
			_, err := s.Next()
			got <- err
		}()
		least := int64(rand.IntN(300))
		testwait.Until(func() bool { return dropped.Load() > least })
		s.Close()
		if err := <-got; err != stages.ErrClosed {
			t.Errorf("Next returned %v", err)
		}
		if _, err := s.Next(); err != stages.ErrClosed {
			t.Errorf("after Close, Next returned %v", err)
		}
		s.State()
		s.Close()
	}
}

// Functions on any elements take the records of a Pipe, too; those on records of files take no others.
func TestRecordsAsElements(t *testing.T) {
	set := writeSet(t, Options{Seed: 4}, 30, 17)
	p := set.Interleave(2, 3).Shuffle(9).Repeat(2)
	number := func(r Record) string { return fmt.Sprint(r.Epoch, r.File, r.Number, string(r.Data)) }
	var want, got []string
	for r, err := range p.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, number(r))
	}
	for i, err := range Enumerate(p).All(t.Context()) {
		if err != nil || i.Index != int64(len(got)) {
			t.Fatalf("element %d is %d, %v", len(got), i.Index, err)
		}
		got = append(got, number(i.Value))
	}
	if !slices.Equal(got, want) {
		t.Errorf("enumerated: %v, want %v", got, want)
	}
	checkResume(t, Enumerate(p).Take(20), func(i Indexed[Record]) string { return fmt.Sprint(i.Index, number(i.Value)) })
	buckets := BucketByLength(p.Take(25), func(r Record) int { return len(r.Data) }, BucketOptions{Boundaries: []int{4}, BatchSizes: []int{3, 4}})
	checkResume(t, buckets, func(b []Record) (all string) {
		for _, r := range b {
			all += number(r) + ";"
		}
		return all
	})
	if s := Unbatch(Batch(p, 4, BatchOptions{})).Set(); s == nil || s.Path(Record{}) != set.Path(Record{}) {
		t.Error("the set of the records of batches")
	}
	_, ofColumns := collectAll(t.Context(), ParseColumns(Unbatch(Batch(p, 4, BatchOptions{})), ColumnSpec{}))
	for name, err := range map[string]error{
		"columns": ofColumns,
		"windows": readSome(t, Windows(Map(p, func(r Record) (Record, error) { return r, nil }, MapOptions{}), columns.WindowSpec{}), nil),
		"mix":     readSome(t, Mix(MixOptions{}, p, Unbatch(Batch(p, 4, BatchOptions{}))), nil),
	} {
		if err == nil || !strings.Contains(err.Error(), "where those of files are wanted") {
			t.Errorf("%s of records of a Map or Unbatch: %v", name, err)
		}
	}
	if _, err := p.Start(t.Context(), From{Epoch: 1, State: &State{}}); err == nil || !strings.Contains(err.Error(), "want one of them") {
		t.Errorf("a State and an Epoch: %v", err)
	}
}
