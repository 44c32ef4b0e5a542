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
// keep it fed, and with a slow consumer few; the order is the same.
func TestTunerSettles(t *testing.T) {
	dir := writeShards(t, tfrecord.None, 900, 900, 900)
	set := open(t, dir, Options{Parallelism: 24})
	want := idsOf(t, set.Interleave(3, 1).Repeat(-1).Take(4000))
	for _, c := range []struct {
		work, consumer time.Duration
		least, most    int
		seconds        float64
	}{
		{work: 8 * time.Millisecond, consumer: time.Millisecond, least: 5, most: 14, seconds: 1.6},
		{work: 100 * time.Microsecond, consumer: 4 * time.Millisecond, least: 1, most: 2, seconds: 0.8},
	} {
		r, err := Map(set.Interleave(3, 1).Repeat(-1), func(r Record) (int, error) {
			time.Sleep(c.work)
			return idOf(r), nil
		}, MapOptions{}).Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for began := time.Now(); time.Since(began).Seconds() < c.seconds; n++ {
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
		if s := stages[len(stages)-1]; s.Workers < c.least || s.Workers > c.most || !s.Auto || s.Changes > 12 {
			t.Errorf("%v of work, %v of the consumer: %+v, want %d to %d workers", c.work, c.consumer, s, c.least, c.most)
		}
		r.Close()
	}
}
