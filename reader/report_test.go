package reader

import (
	"context"
	"encoding/json"
	"expvar"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/tfrecord"
)

func TestReportAndPublish(t *testing.T) {
	dir := writeShards(t, tfrecord.None, 900, 900)
	flow := Map(open(t, dir, Options{Parallelism: 3}).Interleave(2, 1), idFrom, MapOptions{}).Prefetch(4)
	variable := func() (r Report) {
		t.Helper()
		if err := json.Unmarshal([]byte(expvar.Get("reader_test").String()), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for range 2 { // the second takes the place of the first
		r, err := flow.Start(context.Background())
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
	s, err := open(t, dir, Options{}).Records().Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Publish("memstats"); err == nil {
		t.Error("somebody else's name")
	}
}

// With a slow function and a fast consumer there come to be as many workers as
// keep it fed, and with a slow consumer few; the order is the same. How many that
// is follows from the times that sleeping really took.
func TestTunerSettles(t *testing.T) {
	dir := writeShards(t, tfrecord.None, 900, 900, 900)
	set := open(t, dir, Options{Parallelism: 24})
	want := idsOf(t, set.Interleave(3, 1).Repeat(-1).Take(4000))
	for _, c := range []struct {
		work, consumer time.Duration
		settling       time.Duration
	}{
		{work: 8 * time.Millisecond, consumer: time.Millisecond, settling: 1500 * time.Millisecond},
		{work: 100 * time.Microsecond, consumer: 4 * time.Millisecond, settling: 600 * time.Millisecond},
	} {
		r, err := Map(set.Interleave(3, 1).Repeat(-1), func(r Record) (int, error) {
			time.Sleep(c.work)
			return idOf(r), nil
		}, MapOptions{}).Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		pass := func(d time.Duration) StageStats {
			for began := time.Now(); time.Since(began) < d; n++ {
				id, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				if id != want[n] {
					t.Fatalf("element %d is %d, want %d", n, id, want[n])
				}
				time.Sleep(c.consumer)
			}
			stages := r.Stats()
			return stages[len(stages)-1]
		}
		before := pass(c.settling)
		began := time.Now()
		after := pass(400 * time.Millisecond)
		passed := time.Since(began)
		busy := float64(after.Busy-before.Busy) / float64(passed)
		awaited := float64(after.Awaited-before.Awaited) / float64(passed)
		workers := float64(max(before.Workers, after.Workers))
		if awaited > 0.4 || workers > 2.5*busy+1.5 || !after.Auto || after.Changes > 16 {
			t.Errorf("%v of work, %v of the consumer: %.1f workers are busy, the consumer waits %.0f%% of the time: %+v",
				c.work, c.consumer, busy, 100*awaited, after)
		}
		r.Close()
	}
}
