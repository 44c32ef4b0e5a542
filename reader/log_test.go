package reader

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// logged is a slog.Handler that keeps events, one line each.
type logged struct {
	level slog.Level
	mu    sync.Mutex
	lines []string
}

func (h *logged) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }
func (h *logged) WithAttrs([]slog.Attr) slog.Handler               { return h }
func (h *logged) WithGroup(string) slog.Handler                    { return h }

func (h *logged) Handle(_ context.Context, r slog.Record) error {
	line := fmt.Sprintf("%s %q", r.Level, r.Message)
	r.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	})
	h.mu.Lock()
	h.lines = append(h.lines, line)
	h.mu.Unlock()
	return nil
}

// take returns the lines so far, and forgets them.
func (h *logged) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	lines := h.lines
	h.lines = nil
	return lines
}

// runEpochs runs a pipe for a number of epochs.
func runEpochs(t *testing.T, p Pipe, epochs int) {
	t.Helper()
	s, err := p.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range epochs {
		if i > 0 {
			if err := s.NextEpoch(); err != nil {
				t.Fatal(err)
			}
		}
		for err = nil; err == nil; _, err = s.Next() {
		}
		if err != io.EOF {
			t.Fatal(err)
		}
	}
}

func expectLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range got {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("event %d: %s\nwant %s", i, got[i], want[i])
		}
	}
}

// TestLogQuiet: a run in which nothing happens says nothing, and its end only at level Debug.
func TestLogQuiet(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 30, 30)
	for _, c := range []struct {
		level slog.Level
		want  []string
	}{
		{slog.LevelInfo, nil},
		{slog.LevelDebug, []string{`DEBUG "stream ended" epochs=3 elements=180 skipped=0 seconds=`}},
	} {
		h := &logged{level: c.level}
		runEpochs(t, open(t, dir, Options{Logger: slog.New(h)}).Interleave(2, 1).Shuffle(10), 3)
		expectLines(t, h.take(), c.want...)
	}
}

// TestLogDamage: damage is logged with its location, as OnSkip reports it.
func TestLogDamage(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 30, 30)
	path := readertest.ShardPath(dir, 1)
	at := readertest.Offsets(t, path)
	readertest.Flip(t, path, at[7]+tfrecord.HeaderSize)
	h := &logged{}
	var told []Skipped
	set := open(t, dir, Options{Logger: slog.New(h), SkipBad: SkipBad{Count: 1}, OnSkip: func(s Skipped) { told = append(told, s) }})
	runEpochs(t, set.Records(), 2)
	var want []string
	for i, s := range told {
		want = append(want, fmt.Sprintf(`WARN "skipped damage" path=%s record=7 offset=%d records=1 bytes=%d epoch=%d skipped=%d error=%v`,
			path, at[7], at[8]-at[7], i, i+1, s.Err))
	}
	expectLines(t, h.take(), want...)
	if len(told) != 2 {
		t.Errorf("%d skipped, want one in each epoch", len(told))
	}
}

// TestLogDamageIsSampled: of much damage, the first ten events and then one every ten seconds.
// Time is synctest's.
func TestLogDamageIsSampled(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 100), Options{SkipBad: SkipBad{Count: 100}})
	h := &logged{}
	set.files.Opts.Logger = slog.New(h)
	synctest.Test(t, func(t *testing.T) {
		p := set.Records().Filter(func(Record) (bool, error) {
			time.Sleep(time.Second)
			return false, errRefused
		})
		runEpochs(t, p, 1)
	})
	var skipped []string
	for _, line := range h.take() {
		_, after, _ := strings.Cut(line, " skipped=")
		n, _, _ := strings.Cut(after, " ")
		skipped = append(skipped, n)
	}
	if got, want := strings.Join(skipped, " "), "1 2 3 4 5 6 7 8 9 10 20 30 40 50 60 70 80 90 100"; got != want {
		t.Errorf("logged at %s, want %s", got, want)
	}
}

var errRefused = errors.New("refused")

// TestLogCache: a cache is built once, opened by the next run, once however many epochs it runs,
// and discarded for a version.
func TestLogCache(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 30, 30), Options{})
	h := &logged{}
	set.files.Opts.Logger = slog.New(h)
	dir := filepath.Join(t.TempDir(), "cache")
	o := CacheOptions{Dir: dir, Replace: true}
	built := `INFO "cache built" cache=` + dir + " records=60 partial=false"
	runEpochs(t, set.Records().Cache(o), 3)
	expectLines(t, h.take(), built)
	runEpochs(t, set.Records().Cache(o), 3)
	expectLines(t, h.take(), `INFO "cache opened" cache=`+dir+" records=60")
	o.Version = "2"
	runEpochs(t, set.Records().Cache(o), 2)
	expectLines(t, h.take(), `WARN "cache discarded" cache=`+dir+" error=", built)
	runEpochs(t, set.Records().Cache(CacheOptions{}), 3)
	expectLines(t, h.take(), `INFO "cache built" cache=memory records=60 partial=false`)
	runEpochs(t, set.Records().Cache(CacheOptions{Limit: 1000, Partial: true}), 2)
	expectLines(t, h.take(), `INFO "cache built" cache=memory records=`)
}

// TestLogCacheElsewhere: a run that may not fill the cache says so once.
func TestLogCacheElsewhere(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 30), Options{})
	h := &logged{}
	set.files.Opts.Logger = slog.New(h)
	pipe := set.Records().Cache(CacheOptions{Dir: t.TempDir()})
	filling, err := pipe.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer filling.Close()
	runEpochs(t, pipe, 3)
	expectLines(t, h.take(), `INFO "cache is filled by another process" cache=`)
}

// TestLogTuning: settings are logged when they have settled, and not again while they stay. Time
// is synctest's.
func TestLogTuning(t *testing.T) {
	set := open(t, readertest.WriteShards(t, tfrecord.CompressionNone, 900, 900), Options{Parallelism: 16})
	h := &logged{}
	set.files.Opts.Logger = slog.New(h)
	synctest.Test(t, func(t *testing.T) {
		f := Map(set.Interleave(2, 1).Repeat(-1), func(r Record) (int, error) {
			time.Sleep(4 * time.Millisecond)
			return int(binary.LittleEndian.Uint64(r.Data)), nil
		}, MapOptions{})
		r, err := f.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		// Settings that change late, as on a busy machine, settle later.
		var lines []string
		var want string
		settled := func() bool {
			stats := r.Stats()
			last := slices.IndexFunc(stats, func(s StageStats) bool { return s.Name == "map" })
			want = fmt.Sprintf(`INFO "tuning settled" stage=map workers=%d queue=%d changes=`, stats[last].Workers, stats[last].QueueSize)
			lines = append(lines, h.take()...)
			if most := 4 * len(stats); len(lines) > most {
				t.Fatalf("%d events, want %d at most: %q", len(lines), most, lines)
			}
			return slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(s, want) })
		}
		const enough, most = 5 * time.Minute, time.Hour
		for began, n := time.Now(), 0; n%1000 > 0 || time.Since(began) < enough || !settled(); n++ {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			if time.Since(began) > most {
				t.Fatalf("no event %s in %q", want, lines)
			}
			time.Sleep(time.Millisecond)
		}
		t.Log(strings.Join(lines, "\n"))
	})
}
