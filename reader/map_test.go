package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/tfrecord"
)

// writeSet writes files of numbered records, with the given counts, and opens them. The records'
// text is "file/number".
func writeSet(t testing.TB, o Options, counts ...int) *Set {
	t.Helper()
	return writeRecords(t, o, len(counts), func(file int) (records [][]byte) {
		for i := range counts[file] {
			records = append(records, fmt.Appendf(nil, "%d/%d", file, i))
		}
		return records
	})
}

func writeRecords(t testing.TB, o Options, files int, records func(file int) [][]byte) *Set {
	t.Helper()
	dir := t.TempDir()
	for file := range files {
		var frames []byte
		for _, r := range records(file) {
			frames = tfrecord.AppendFrame(frames, r)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.tfrecord", file)), frames, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, timed := t.(*testing.B)
	o.PoisonRecycled = !timed // what is used too late is noticed
	set, err := Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// textOf is a Map function.
func textOf(r Record) (string, error) { return string(r.Data), nil }

// drain reads a flow to its end.
func drain[T any](t testing.TB, f Flow[T]) []T {
	t.Helper()
	var all []T
	for v, err := range f.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// texts are the records of a pipe.
func texts(t testing.TB, p Pipe) []string {
	t.Helper()
	var all []string
	for r, err := range p.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(r.Data))
	}
	return all
}

// settled waits until there are no more goroutines than before.
func settled(before int) { testwait.Until(func() bool { return runtime.NumGoroutine() <= before }) }

func TestMapKeepsTheOrder(t *testing.T) {
	p := writeSet(t, Options{}, 700, 3, 0, 90).Interleave(3, 2)
	want := texts(t, p)
	for _, workers := range []int{1, 2, 7} {
		slow := Map(p, func(r Record) (string, error) {
			if r.Number%97 == 0 {
				time.Sleep(time.Millisecond)
			}
			return string(r.Data), nil
		}, MapOptions{Workers: workers})
		if diff := cmp.Diff(want, drain(t, slow)); diff != "" {
			t.Errorf("%d workers:\n%.500s", workers, diff)
		}
	}
	got := drain(t, Map(p, textOf, MapOptions{Workers: 4, Unordered: true}))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(want, got) {
		t.Errorf("unordered: %d elements, not the same as %d", len(got), len(want))
	}
}

// Each worker has a function of its own, which is never called twice at the same time.
func TestMapWith(t *testing.T) {
	p := writeSet(t, Options{}, 150, 3, 0, 90).Interleave(3, 2)
	want := texts(t, p)
	for _, workers := range []int{0, 1, 5} {
		var made atomic.Int32
		f := MapWith(p, func() func(Record) (string, error) {
			made.Add(1)
			var busy atomic.Bool
			var memory []byte // of this worker alone: the race detector agrees
			return func(r Record) (string, error) {
				if busy.Swap(true) {
					return "", errors.New("called while it runs")
				}
				defer busy.Store(false)
				memory = append(memory[:0], r.Data...)
				runtime.Gosched()
				return string(memory), nil
			}
		}, MapOptions{Workers: workers})
		if diff := cmp.Diff(want, drain(t, f)); diff != "" {
			t.Errorf("%d workers:\n%.500s", workers, diff)
		}
		if n := int(made.Load()); n < 1 || workers > 0 && n != workers {
			t.Errorf("%d functions for %d workers", n, workers)
		}
		checkResume(t, f, func(s string) string { return s })
	}
	for name, f := range map[string]Flow[int]{
		"no factory":  MapWith[Record, int](p, nil, MapOptions{}),
		"no function": MapWith(p, func() func(Record) (int, error) { return nil }, MapOptions{}),
		"no damage": MapWith(writeSet(t, Options{SkipBad: SkipBad{Share: 1}}, 9).Records(), func() func(Record) (int, error) { return nil },
			MapOptions{}),
	} {
		var said error
		for _, said = range f.All(context.Background()) {
		}
		if said == nil || !strings.Contains(said.Error(), "function") {
			t.Errorf("%s: %v", name, said)
		}
	}
}

func TestMapErrors(t *testing.T) {
	before := runtime.NumGoroutine()
	set := writeSet(t, Options{}, 100)
	boom := errors.New("boom")
	f := Map(set.Records(), func(r Record) (string, error) {
		if r.Number >= 41 {
			return "", boom
		}
		return textOf(r)
	}, MapOptions{Workers: 3})
	r, err := f.Start(context.Background(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for ; ; n++ {
		if _, err = r.Next(); err != nil {
			break
		}
	}
	var located *tfrecord.Error
	if !errors.Is(err, boom) || !errors.As(err, &located) || located.Record != 41 || located.Name != set.Sources()[0].Path || located.Offset == 0 {
		t.Errorf("%d elements, then %v", n, err)
	}
	if _, again := r.Next(); again != err {
		t.Errorf("then %v", again)
	}
	r.Close()
	settled(before)
}

func TestBreakingOutLeavesNothing(t *testing.T) {
	set := writeSet(t, Options{}, 500, 500)
	p := set.Interleave(2, 1).Repeat(-1)
	before := runtime.NumGoroutine()
	for n := range 4 {
		for range Map(p, textOf, MapOptions{Workers: 3}).All(context.Background()) {
			break
		}
		for range Map(p, textOf, MapOptions{Workers: 3, Unordered: true}).Prefetch(2).All(context.Background()) {
			break
		}
		for range Batch(Map(p, textOf, MapOptions{}), 10, BatchOptions{}).Prefetch(1 + n).All(context.Background()) {
			break
		}
		for range Batch(p, 10, BatchOptions{}).Prefetch(3).All(context.Background()) {
			break
		}
	}
	settled(before)
}

func TestCancelledFlowsEnd(t *testing.T) {
	set := writeSet(t, Options{}, 500, 500)
	before := runtime.NumGoroutine()
	for _, f := range []Flow[string]{
		Map(set.Records().Repeat(-1), textOf, MapOptions{}),
		Map(set.Records().Repeat(-1), textOf, MapOptions{Unordered: true}),
		Map(set.Records().Repeat(-1), textOf, MapOptions{}).Prefetch(4),
	} {
		ctx, cancel := context.WithCancel(context.Background())
		r, err := f.Start(ctx, From{})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; ; i++ {
			if i == 100 {
				cancel()
			}
			if _, err = r.Next(); err != nil {
				break
			}
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		r.Close()
		cancel()
	}
	settled(before)
}

func TestFilter(t *testing.T) {
	p := writeSet(t, Options{}, 1000, 30).Records()
	odd := p.Filter(func(r Record) (bool, error) { return r.Number%2 == 1 && r.File == 0, nil })
	var want []string
	for i := 1; i < 1000; i += 2 {
		want = append(want, fmt.Sprintf("0/%d", i))
	}
	if diff := cmp.Diff(want, texts(t, odd)); diff != "" {
		t.Errorf("%.500s", diff)
	}
	boom := errors.New("boom")
	s, err := p.Filter(func(r Record) (bool, error) { return false, boom }).Start(context.Background(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(); !errors.Is(err, boom) || !strings.Contains(err.Error(), "record 0 at byte 0") {
		t.Error(err)
	}
}

// checkResume stops a flow after each element in turn, and checks that resuming from its State
// gives the rest.
func checkResume[T any](t *testing.T, f Flow[T], text func(T) string) {
	t.Helper()
	ctx := context.Background()
	var all []string
	var states []State
	r, err := f.Start(ctx, From{})
	if err != nil {
		t.Fatal(err)
	}
	states = append(states, r.State())
	for {
		v, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text(v))
		states = append(states, r.State())
	}
	if diff := cmp.Diff(states[len(states)-1], r.State()); diff != "" {
		t.Errorf("the state at the end is not that behind the last element:\n%s", diff)
	}
	r.Close()
	for i, s := range states {
		r, err := f.Start(ctx, From{State: &s})
		if err != nil {
			t.Fatal(err)
		}
		var rest []string
		for {
			v, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			rest = append(rest, text(v))
		}
		r.Close()
		if !slices.Equal(rest, all[i:]) {
			t.Fatalf("resumed behind %d elements: %q; want %q", i, rest, all[i:])
		}
	}
}

func TestResume(t *testing.T) {
	same := func(s string) string { return s }
	join := func(s []string) string { return strings.Join(s, " ") }
	p := writeSet(t, Options{Seed: 3}, 20, 7, 12).Interleave(2, 2)
	pipes := map[string]Pipe{
		"interleave":         p,
		"filter":             p.Filter(func(r Record) (bool, error) { return r.Number%2 == 1, nil }),
		"shuffle and repeat": p.Shuffle(5).Repeat(2),
	}
	for name, p := range pipes {
		t.Run(name, func(t *testing.T) {
			checkResume(t, Map(p, textOf, MapOptions{Workers: 2}), same)
			checkResume(t, Map(p, textOf, MapOptions{Workers: 2}).Prefetch(3), same)
			checkResume(t, Batch(Map(p, textOf, MapOptions{}), 4, BatchOptions{}), join)
			checkResume(t, Unbatch(Batch(Map(p, textOf, MapOptions{}), 4, BatchOptions{})), same)
			checkResume(t, Batch(p, 5, BatchOptions{}), func(b []Record) string {
				var s []string
				for _, r := range b {
					s = append(s, string(r.Data))
				}
				return join(s)
			})
		})
	}
}
