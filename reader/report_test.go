package reader

import (
	"context"
	"encoding/json"
	"expvar"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestReportAndPublish(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900, 900)
	flow := Map(open(t, dir, Options{Parallelism: 3}).Interleave(2, 1), idFrom, MapOptions{}).Prefetch(4)
	variable := func() (r Report) {
		t.Helper()
		if err := json.Unmarshal([]byte(expvar.Get("reader_test").String()), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for range 2 { // the second replaces the first
		r, err := flow.Start(context.Background(), From{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Publish("reader_test"); err != nil {
			t.Fatal(err)
		}
		if got := variable(); got.Stages[3].Elements > 900 {
			t.Errorf("at the beginning: %+v", got)
		}
		for err = nil; err == nil; {
			_, err = r.Next()
		}
		r.Close()
		got := variable()
		var names []string
		for _, s := range got.Stages {
			word, _, _ := strings.Cut(s.Name, "(")
			names = append(names, word)
			if s.Elements != 1800 || word != "prefetch" && s.Bytes == 0 {
				t.Errorf("%+v; want 1800 elements", s)
			}
		}
		if strings.Join(names, " ") != "read interleave map prefetch" {
			t.Errorf("stages %v", names)
		}
		if read, fixed := got.Stages[0], got.Stages[3]; !read.Auto || fixed.Auto || fixed.QueueSize != 4 || fixed.Queue != 0 {
			t.Errorf("%+v, %+v", read, fixed)
		}
		if got.Seconds <= 0 || got.Bottleneck == "" || got.Memory.Peak == 0 || got.Memory.Limit == 0 {
			t.Errorf("%+v", got)
		}
		if again := variable(); again.Seconds != got.Seconds {
			t.Error("the clock runs on after Close")
		}
	}
	s, err := open(t, dir, Options{}).Records().Start(context.Background(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Publish("memstats"); err == nil {
		t.Error("somebody else's name")
	}
}

// With a slow function and a fast consumer the workers become as many as needed, and with a slow
// consumer few, in each stage that calls functions; the order is the same. Time is synctest's:
// sleeping takes none.
func TestTunerSettles(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900, 900, 900)
	set := open(t, dir, Options{Parallelism: 24})
	const settling, measured = 30 * time.Second, 10 * time.Second
	want := idsOf(t, set.Interleave(3, 1).Repeat(-1).Take(60000))
	given := MapOptions{Workers: 2}
	for name, flow := range map[string]func(p Pipe, work func()) Flow[int]{
		"Map": func(p Pipe, work func()) Flow[int] {
			return Map(p, func(r Record) (int, error) { work(); return idOf(r), nil }, MapOptions{})
		},
		"MapFlow": func(p Pipe, work func()) Flow[int] {
			return Map(Map(p, idFrom, given), func(id int) (int, error) { work(); return id, nil }, MapOptions{})
		},
		"MapData": func(p Pipe, work func()) Flow[int] {
			p = MapData(p, func(dst []byte, r Record) ([]byte, error) { work(); return append(dst, r.Data...), nil }, MapDataOptions{})
			return Map(p, idFrom, given)
		},
	} {
		for _, c := range []struct {
			work, consumer time.Duration
			least, most    int // workers at which it should settle
		}{
			{work: 8 * time.Millisecond, consumer: time.Millisecond, least: 7, most: 14},
			{work: 100 * time.Microsecond, consumer: 4 * time.Millisecond, least: 1, most: 2},
		} {
			synctest.Test(t, func(t *testing.T) {
				r, err := flow(set.Interleave(3, 1).Repeat(-1), func() { time.Sleep(c.work) }).Start(t.Context(), From{})
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				n := 0
				pass := func(d time.Duration) (tuned StageStats) {
					for began := time.Now(); time.Since(began) < d; n++ {
						id, err := r.Next()
						if err != nil {
							t.Fatal(err)
						}
						if id != want[n] {
							t.Fatalf("%s: element %d is %d, want %d", name, n, id, want[n])
						}
						time.Sleep(c.consumer)
					}
					for _, s := range r.Stats() {
						if s.Auto && strings.HasPrefix(s.Name, "map") {
							tuned = s
						}
					}
					return tuned
				}
				before := pass(settling)
				after := pass(measured)
				awaited := float64(after.Awaited-before.Awaited) / float64(measured)
				// A trial that is reverted is two changes: of the workers and of the queue, each may
				// have one, which depends on the order of goroutines.
				if awaited > 0.2 || after.Workers < c.least || after.Workers > c.most || after.Changes-before.Changes > 4 {
					t.Errorf("%s, %v of work, %v of the consumer: the consumer waits %.0f%% of the time: %+v, and %d changes before",
						name, c.work, c.consumer, 100*awaited, after, before.Changes)
				}
			})
		}
	}
}
