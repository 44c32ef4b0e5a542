package reader

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/cpuload"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// long is how long functions of these tests wait: much longer than a thread waits for a processor on a
// busy machine.
const long = 40 * time.Millisecond

// A function that waits is named as such, and following the advice helps.
func TestWaitingFunctionsAreNamed(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 3000), Options{Parallelism: 2})
	wait := func(dst []byte, r Record) ([]byte, error) {
		time.Sleep(long)
		return append(dst, r.Data...), nil
	}
	// ran returns the report, and the records a second, of n records.
	ran := func(p Pipe, n int) (Report, float64) {
		t.Helper()
		began := time.Now()
		s := started(t, p)
		for range n {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
		}
		return s.Report(), float64(n) / time.Since(began).Seconds()
	}
	few, slow := ran(MapData(set.Records(), wait, MapDataOptions{Workers: 2}), 10)
	if few.Processor == 0 {
		t.Skip("processor time is not known here")
	}
	if !strings.HasPrefix(few.Bottleneck, "map: ") || !strings.Contains(few.Bottleneck, "mostly wait") || !strings.Contains(few.Bottleneck, "MapOptions.Workers") {
		t.Errorf("2 workers that wait: %s", few.Bottleneck)
	}
	if _, fast := ran(MapData(set.Records(), wait, MapDataOptions{Workers: 40}), 100); fast < 4*slow {
		t.Errorf("%.0f records/s with 40 workers, %.0f with 2", fast, slow)
	}
}

// Workers whose number is chosen become more than the processors where the function waits: the loops
// end when they are.
func TestWaitsAreFound(t *testing.T) {
	if _, known := cpuload.Start().Delayed(); !known {
		t.Skip("how long threads wait for processors is not known here")
	}
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 900), Options{Parallelism: 2})
	more := func(stats []StageStats) bool {
		return slices.ContainsFunc(stats, func(s StageStats) bool { return s.Workers > 2 })
	}
	records := started(t, MapData(set.Records().Repeat(-1), func(dst []byte, r Record) ([]byte, error) {
		time.Sleep(long)
		return append(dst, r.Data...), nil
	}, MapDataOptions{}))
	for !more(records.Stats()) {
		if _, err := records.Next(); err != nil {
			t.Fatal(err)
		}
	}
	values := startedFlow(t, Map(set.Records().Repeat(-1), func(r Record) (int64, error) {
		time.Sleep(long)
		return r.Number, nil
	}, MapOptions{}))
	for !more(values.Stats()) {
		if _, err := values.Next(); err != nil {
			t.Fatal(err)
		}
	}
}

// The first slow stage is named, not those that wait for it, and following the advice helps.
func TestASlowFilterIsNamed(t *testing.T) {
	set := imageSet(t, 5, nil)
	wait := func(Record) (bool, error) {
		time.Sleep(long)
		return true, nil
	}
	spec := ImageSpec{Size: 8, Batch: 4, DType: Uint8}
	ran := func(p Pipe) (Report, time.Duration) {
		t.Helper()
		began := time.Now()
		s := startedFlow(t, Images(p, spec))
		for _, err := range s.All() {
			settest.Check(t, err)
		}
		return s.Report(), time.Since(began)
	}
	r, slow := ran(set.Records().Filter(wait))
	if !strings.HasPrefix(r.Bottleneck, "filter: ") || r.Processor > 0 && !strings.Contains(r.Bottleneck, "MapOptions.Waits") {
		t.Errorf("a filter that waits: %s", r.Bottleneck)
	}
	_, fast := ran(MapData(set.Records(), func(dst []byte, r Record) ([]byte, error) {
		_, err := wait(r)
		return append(dst, r.Data...), err
	}, MapDataOptions{Workers: 20, Waits: true}))
	if fast > slow/2 {
		t.Errorf("%v with 20 workers that wait, %v with the filter", fast, slow)
	}
}
