package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// epochFlows are flows of all kinds over a shuffled set, each element with the pass of its first
// record.
func epochFlows(t *testing.T) map[string]Flow[string] {
	set := writeRecords(t, Options{Seed: 3, ShuffleFiles: true}, 4, func(file int) (records [][]byte) {
		for i := range 60 {
			records = append(records, settest.Example(func(b *tfrecord.Builder) {
				b.Int64(DefaultLabelKey, int64(1000*file+i))
				b.Bytes(DefaultImageKey, tinyJPEG())
			}))
		}
		return records
	})
	pipe := set.Interleave(2, 1).Shuffle(50)
	text := func(r Record) (string, error) { return fmt.Sprint(r.Epoch, r.File, r.Number), nil }
	join := func(s []string) (string, error) { return fmt.Sprint(s), nil }
	return map[string]Flow[string]{
		"records": Map(Batch(pipe, 7, BatchOptions{}), func(b []Record) (string, error) {
			return fmt.Sprint(b[0].Epoch, b[0].File, b[0].Number), nil
		}, MapOptions{}),
		"columns": Map(ParseColumns(pipe, ColumnSpec{Batch: 7}), func(b *ColumnBatch) (string, error) {
			ids, err := b.Int64s(DefaultLabelKey)
			return fmt.Sprint(b.Epoch, ids), err
		}, MapOptions{}).Prefetch(3),
		"pictures": Map(Images(pipe, ImageSpec{Batch: 7, Size: 4}), func(b *ImageBatch) (string, error) {
			return fmt.Sprint(b.Epoch, b.Labels), nil
		}, MapOptions{Workers: 2}),
		"map":      Map(pipe, text, MapOptions{}),
		"elements": Unbatch(Batch(Map(pipe, text, MapOptions{Workers: 3}), 9, BatchOptions{})).Prefetch(5),
		"filter":   Map(Batch(Map(pipe.Prefetch(2), text, MapOptions{}), 5, BatchOptions{DropRemainder: true}), join, MapOptions{}).Filter(func(s string) (bool, error) { return len(s)%3 > 0, nil }),
		"cached":   Map(pipe.Cache(CacheOptions{}).Shuffle(20), text, MapOptions{}),
		"repeated": Map(set.ShuffleAll(ShuffleAllOptions{}).Repeat(2), text, MapOptions{}),
	}
}

// The epochs of one run equal those of StartEpoch, wherever the previous one was left; no two are
// equal, and none leaks anything.
func TestNextEpoch(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	for name, f := range epochFlows(t) {
		running, err := f.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer running.Close()
		var usage []usage
		seen := map[string]int64{}
		epochs := int64(race.Few(40, 10))
		for epoch := range epochs {
			first := epoch // pass over the set
			if name == "repeated" {
				first = 2 * epoch
			}
			if running.Epoch() != first {
				t.Fatalf("%s: epoch %d, want %d", name, running.Epoch(), first)
			}
			want := epochFrom(t, f, epoch)
			order := fmt.Sprint(want)
			if before, ok := seen[order]; ok {
				t.Errorf("%s: epoch %d is like epoch %d", name, epoch, before)
			}
			seen[order] = epoch
			n := len(want) + 1 // up to io.EOF
			if epoch%2 == 1 {
				n = rnd.IntN(n)
			}
			got := []string{}
			for i := range n {
				v, err := running.Next()
				if err == io.EOF && i == len(want) {
					break
				}
				if err != nil {
					t.Fatalf("%s, epoch %d, after %d: %v", name, epoch, i, err)
				}
				got = append(got, v)
			}
			if diff := cmp.Diff(want[:len(got)], got); diff != "" {
				t.Fatalf("%s, epoch %d:\n%s", name, epoch, diff)
			}
			if epoch%5 == 2 { // a state knows its epoch
				again, err := f.Start(t.Context(), From{State: new(through(t, running.State()))})
				if err != nil {
					t.Fatal(err)
				}
				if again.Epoch() != first {
					t.Errorf("%s: resumed in epoch %d, want %d", name, again.Epoch(), first)
				}
				if left := restOf(t, again); name != "filter" && !slices.Equal(left, want[len(got):]) {
					t.Errorf("%s: resumed in epoch %d: got %v, want %v", name, epoch, left, want[len(got):])
				}
				again.Close()
			}
			if err := running.NextEpoch(); err != nil {
				t.Fatalf("%s, after epoch %d: %v", name, epoch, err)
			}
			if epoch == 4 || epoch == epochs-1 {
				usage = append(usage, usageNow())
			}
		}
		if usage[1].goroutines > usage[0].goroutines+3 || usage[1].files > usage[0].files+4 {
			t.Errorf("%s: %v after 5 epochs, %v after %d", name, usage[0], usage[1], epochs)
		}
	}
}

// restOf reads the rest of a flow's epoch.
func restOf(t *testing.T, r *Stream[string]) []string {
	t.Helper()
	all := []string{}
	for v, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

func epochFrom(t *testing.T, f Flow[string], epoch int64) []string {
	t.Helper()
	r, err := f.Start(t.Context(), From{Epoch: epoch})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return restOf(t, r)
}

// A cache is filled once for all epochs of a run, and once more if the first one was left early.
func TestCacheStaysFromEpochToEpoch(t *testing.T) {
	set := writeSet(t, Options{}, 100, 50)
	for _, leave := range []bool{false, true} {
		var made atomic.Int64
		pipe := MapData(set.Records(), func(dst []byte, r Record) ([]byte, error) {
			made.Add(1)
			return append(dst, r.Data...), nil
		}, MapDataOptions{Workers: 1}).Cache(CacheOptions{})
		r, err := Map(pipe, textOf, MapOptions{}).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if leave {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			if err := r.NextEpoch(); err != nil {
				t.Fatal(err)
			}
			made.Store(0)
		}
		for range 4 {
			if n := len(restOf(t, r)); n != 150 {
				t.Errorf("%d records, want 150", n)
			}
			if err := r.NextEpoch(); err != nil {
				t.Fatal(err)
			}
		}
		if n := made.Load(); n != 150 {
			t.Errorf("left in the first epoch: %v; records were made %d times, want 150", leave, n)
		}
	}
}

// After a final error, and after Close, there is no next epoch; leaving an epoch early does not
// wait for what was requested.
func TestNextEpochAfterErrors(t *testing.T) {
	set := writeSet(t, Options{}, 100)
	broken := errors.New("broken")
	f := Map(set.Records(), func(r Record) (string, error) {
		if r.Number == 60 && r.Epoch == 1 {
			return "", broken
		}
		return textOf(r)
	}, MapOptions{})
	r, err := f.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	restOf(t, r)
	if err := r.NextEpoch(); err != nil {
		t.Fatal(err)
	}
	for range r.All() {
	}
	if err := r.NextEpoch(); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	if _, err := r.Next(); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	r.Close()
	if err := r.NextEpoch(); err == nil {
		t.Error("a flow that is closed has a next epoch")
	}
	if _, err := f.Start(t.Context(), From{Epoch: -1}); err == nil {
		t.Error("epoch -1")
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := set.Records().Start(ctx, From{Epoch: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if b, err := nextBlock(s); err != nil || b.Records[0].Epoch != 7 || s.Epoch() != 7 {
		t.Errorf("%v, epoch %d", err, s.Epoch())
	} else if err := s.NextEpoch(); err != nil {
		t.Error(err)
	} else if state := b.State(1); state.Epoch != 7 || s.State().Epoch != 8 {
		t.Errorf("states of epochs %d and %d, want 7 and 8", state.Epoch, s.State().Epoch)
	}
	cancel()
	if err := s.NextEpoch(); !errors.Is(err, context.Canceled) {
		t.Errorf("%v after the context was cancelled", err)
	}
}

// With BatchWithinEpoch no batch has records of two passes, and each pass has its own remainder.
func TestBatchWithinEpoch(t *testing.T) {
	set := writeRecords(t, Options{BatchWithinEpoch: true}, 2, func(file int) (records [][]byte) {
		for i := range 5 {
			records = append(records, settest.Example(func(b *tfrecord.Builder) { b.Int64("id", int64(10*file+i)) }))
		}
		return records
	})
	for _, drop := range []bool{false, true} {
		pipe := set.Interleave(2, 1).Shuffle(3).Repeat(3)
		want := []string{"0 4", "0 4", "0 2", "1 4", "1 4", "1 2", "2 4", "2 4", "2 2"}
		if drop {
			want = slices.DeleteFunc(want, func(s string) bool { return s[2] == '2' })
		}
		epoch := func(r Record) (int32, error) { return r.Epoch, nil }
		got := map[string][]string{
			"records": drain(t, Map(Batch(pipe, 4, BatchOptions{DropRemainder: drop}), func(b []Record) (string, error) {
				return fmt.Sprint(b[0].Epoch, len(b)), nil
			}, MapOptions{})),
			"columns": drain(t, Map(ParseColumns(pipe, ColumnSpec{Batch: 4, DropRemainder: drop}), func(b *ColumnBatch) (string, error) {
				return fmt.Sprint(b.Epoch, b.Rows), nil
			}, MapOptions{})),
			"elements": drain(t, Map(Batch(Map(pipe, epoch, MapOptions{}), 4, BatchOptions{DropRemainder: drop}), func(b []int32) (string, error) {
				return fmt.Sprint(b[0], len(b)), nil
			}, MapOptions{})),
		}
		for name, got := range got {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, drop %v:\n%s", name, drop, diff)
			}
		}
	}
	if _, err := set.Records().Repeat(2).Prefetch(1).Shuffle(3).Start(t.Context(), From{}); err == nil {
		t.Error("a Shuffle after a Repeat mixes passes, and was taken")
	}
}
