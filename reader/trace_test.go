package reader

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"regexp"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
	"google.golang.org/protobuf/encoding/protowire"
)

// staged returns an endless flow with a goroutine in each stage that may have one: of a copy, of a
// shuffle after them, and of calls of work.
func staged(t *testing.T, work func(Record) (int, error)) Flow[int] {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 30_000, 30_000) // of several blocks
	p := MapData(open(t, dir, Options{Parallelism: 2}).Interleave(2, 1).Repeat(-1), func(dst []byte, r Record) ([]byte, error) { return append(dst, r.Data...), nil }, MapDataOptions{Workers: 1}).
		Prefetch(1).Shuffle(500)
	return Map(Map(p, work, MapOptions{Workers: 1}), func(id int) (int, error) { return id, nil }, MapOptions{Workers: 1}).Prefetch(1)
}

// TestGoroutinesAreLabelled reads the labels of the goroutines of a pipeline during a call of a
// function.
func TestGoroutinesAreLabelled(t *testing.T) {
	called, goOn := make(chan bool), make(chan bool)
	var calls atomic.Int64
	work := func(r Record) (int, error) {
		if calls.Add(1) == 5 {
			close(called)
			<-goOn
		}
		return idOf(r), nil
	}
	var labels []string
	pprof.Do(t.Context(), pprof.Labels("job", "mine"), func(ctx context.Context) {
		r, err := staged(t, work).Start(ctx, From{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		<-called
		defer close(goOn)
		labels = goroutineLabels(t)
	})
	for _, stage := range []string{"read", "map", "prefetch"} {
		if want := `"job":"mine", "tfrec_stage":"` + stage + `"`; !slices.ContainsFunc(labels, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("no goroutine has the labels %s; there are %q", want, labels)
		}
	}
	if !slices.Contains(labels, `{"job":"mine"}`) {
		t.Errorf("the consumer's goroutine has lost its labels: there are %q", labels)
	}
	ours := func(s string) bool {
		return strings.Contains(s, `"job":"mine"`) && strings.Contains(s, pipeline.StageLabel)
	}
	testwait.Until(func() bool { return !slices.ContainsFunc(goroutineLabels(t), ours) })
}

var labelLine = regexp.MustCompile(`(?m)^# labels: (.*)$`)

// goroutineLabels returns the labels of all goroutines that have any.
func goroutineLabels(t *testing.T) []string {
	t.Helper()
	return goroutineLabelsIn(t, "")
}

// goroutineLabelsIn returns the labels of the goroutines that have any and function, or any
// function, on their stacks.
func goroutineLabelsIn(t *testing.T, function string) (all []string) {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		t.Fatal(err)
	}
	for stack := range strings.SplitSeq(b.String(), "\n\n") {
		if m := labelLine.FindStringSubmatch(stack); m != nil && strings.Contains(stack, function) {
			all = append(all, m[1])
		}
	}
	return all
}

// TestConsumerKeepsItsLabels: stages that run in the consumer's goroutine do not label it, also
// while a pipeline resumes by reading again.
func TestConsumerKeepsItsLabels(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 300, 300), Options{})
	// Goroutines of the pipeline have the same labels until they set their own, but this test's
	// function is on no stack of theirs.
	own := func() string {
		var mine []string
		for _, l := range goroutineLabelsIn(t, t.Name()) {
			if strings.Contains(l, `"job"`) {
				mine = append(mine, l)
			}
		}
		return strings.Join(mine, " ")
	}
	pprof.Do(t.Context(), pprof.Labels("job", "mine"), func(ctx context.Context) {
		const want = `{"job":"mine"}`
		pipe := set.Interleave(2, 1).Filter(func(Record) (bool, error) {
			if got := own(); got != want {
				t.Errorf("in a function: %s, want %s", got, want)
			}
			return true, nil
		}).Shuffle(100)
		s, err := pipe.Start(ctx, From{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		state := s.State()
		s.Close()
		if s, err = pipe.Start(ctx, From{State: &state}); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if got := own(); got != want {
			t.Errorf("after Resume: %s, want %s", got, want)
		}
	})
}

// TestProfilesHaveStages takes CPU profiles of a running pipeline until each stage was seen at
// work, the one without a goroutine of its own among them.
func TestProfilesHaveStages(t *testing.T) {
	want := []string{"interleave", "map", "read", "shuffle"}
	r, err := staged(t, idFrom).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var seen []string
	for len(seen) < len(want) {
		var b bytes.Buffer
		// More samples than the 100 a second of StartCPUProfile, which complains on stderr and lets
		// the rate be: the shortest stage takes a thousandth of the time.
		runtime.SetCPUProfileRate(2000)
		if err := pprof.StartCPUProfile(&b); err != nil {
			t.Skip(err) // go test -cpuprofile
		}
		for began := time.Now(); time.Since(began) < 200*time.Millisecond; {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		pprof.StopCPUProfile()
		for _, stage := range labelsOfProfile(t, &b, pipeline.StageLabel) {
			if slices.Contains(want, stage) && !slices.Contains(seen, stage) {
				seen = append(seen, stage)
			}
		}
	}
}

// labelsOfProfile returns the values of a label of the samples in a profile, whose format is
// profile.proto of github.com/google/pprof.
func labelsOfProfile(t *testing.T, from io.Reader, key string) (values []string) {
	t.Helper()
	in, err := gzip.NewReader(from)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	const sample, stringTable, sampleLabel, labelKey, labelStr = 2, 6, 3, 1, 2
	var strs []string
	for _, s := range messageFields(t, profile, stringTable) {
		strs = append(strs, string(s))
	}
	number := func(message []byte, field protowire.Number) uint64 {
		for len(message) > 0 {
			num, kind, n := protowire.ConsumeTag(message)
			message = message[n:]
			if num == field {
				v, _ := protowire.ConsumeVarint(message)
				return v
			}
			message = message[protowire.ConsumeFieldValue(num, kind, message):]
		}
		return 0
	}
	for _, s := range messageFields(t, profile, sample) {
		for _, l := range messageFields(t, s, sampleLabel) {
			if strs[number(l, labelKey)] == key {
				values = append(values, strs[number(l, labelStr)])
			}
		}
	}
	return values
}

// messageFields returns the values of a repeated field of messages or strings.
func messageFields(t *testing.T, message []byte, field protowire.Number) (values [][]byte) {
	t.Helper()
	for len(message) > 0 {
		num, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			t.Fatal("not a profile")
		}
		message = message[n:]
		n = protowire.ConsumeFieldValue(num, kind, message)
		if n < 0 {
			t.Fatal("not a profile")
		}
		if num == field {
			v, _ := protowire.ConsumeBytes(message)
			values = append(values, v)
		}
		message = message[n:]
	}
	return values
}

// TestTracesHaveRegions looks for the names of tasks and regions in an execution trace: its string
// table has only those of its events.
func TestTracesHaveRegions(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("go test -trace")
	}
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	run := func(f Flow[int]) {
		r, err := f.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 1000 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(staged(t, idFrom))
	run(Map(open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 300), Options{}).ShuffleAll(ShuffleAllOptions{}).Repeat(-1), idFrom, MapOptions{}))
	trace.Stop()
	for _, name := range []string{"read", "interleave", "repeat", "map", "prefetch", "shuffle", "shuffle_all", "next"} {
		// A string in the trace is its length and its bytes.
		name = pipeline.TracePrefix + name
		if !bytes.Contains(b.Bytes(), append([]byte{byte(len(name))}, name...)) {
			t.Errorf("the trace has no region %q", name)
		}
	}
	if !bytes.Contains(b.Bytes(), []byte("\x05tfrec")) {
		t.Error("the trace has no task")
	}
}
