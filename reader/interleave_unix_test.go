//go:build unix

package reader

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/tfrecord"
)

// A file without data yet blocks neither unordered reading nor its end.
func TestUnorderedWaitsForNoSlowFile(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 50, 0, 50)
	slow := readertest.ShardPath(dir, 1)
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(slow, 0o644); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	set, err := OpenAll(t.Context(), []string{readertest.ShardPath(dir, 0), slow, readertest.ShardPath(dir, 2)}, Options{Unordered: true, Parallelism: 4})
	if err != nil {
		t.Fatal(err)
	}
	s, err := set.Interleave(3, 1).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 100 {
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
	}
	// Only now does the pipe have data.
	frame := tfrecord.AppendFrame(nil, readertest.Numbered(1, 7))
	if err := os.WriteFile(slow, frame, 0); err != nil {
		t.Fatal(err)
	}
	if ids := rest(t, s); !slices.Equal(ids, []int{1007}) {
		t.Errorf("the slow file gave %v", ids)
	}
}

// A slow file delays the others but does not change the order; later files are read in the
// meantime.
func TestSlowFileKeepsTheOrder(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 20, 20, 20)
	want := idsOf(t, open(t, dir, Options{}).Interleave(3, 2))
	slow := readertest.ShardPath(dir, 1)
	frames, err := os.ReadFile(slow)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(slow, 0o644); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() {
		f, err := os.OpenFile(slow, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for part := range slices.Chunk(frames, len(frames)/5) {
			time.Sleep(2 * time.Millisecond)
			if _, err := f.Write(part); err != nil {
				t.Error(err)
				return
			}
		}
	})
	set, err := OpenAll(t.Context(), []string{readertest.ShardPath(dir, 0), slow, readertest.ShardPath(dir, 2)}, Options{Parallelism: 4})
	if err != nil {
		t.Fatal(err)
	}
	if got := idsOf(t, set.Interleave(3, 2)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Waiting for a sequential file does not count as work. A busy machine may have the reader come late
// to the writer's pauses, but not to ever longer ones.
func TestWaitingForAPipeIsNoWork(t *testing.T) {
	var read StageStats
	for pause := 10 * time.Millisecond; pause < 10*time.Second; pause *= 2 {
		read = readWithPauses(t, pause)
		if read.WaitInput >= 5*pause && read.Busy < read.WaitInput {
			return
		}
	}
	t.Errorf("%v of work, %v of waiting", read.Busy, read.WaitInput)
}

// readWithPauses reads a pipe whose writer pauses eight times.
func readWithPauses(t *testing.T, pause time.Duration) StageStats {
	t.Helper()
	path := readertest.ShardPath(t.TempDir(), 0)
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	var frames []byte
	for k := range 10 {
		frames = tfrecord.AppendFrame(frames, readertest.Numbered(0, k))
	}
	s, err := open(t, path, Options{}).Records().Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for part := range slices.Chunk(frames, len(frames)/8) {
			if _, err := f.Write(part); err != nil {
				t.Error(err)
			}
			time.Sleep(pause)
		}
	})
	if ids := rest(t, s); !slices.Equal(ids, readertest.InOrder(10)) {
		t.Errorf("got %v", ids)
	}
	return s.Stats()[0]
}

// A cancelled wait for a pipe without data returns the context's error.
func TestCancelledPipeSaysSo(t *testing.T) {
	path := readertest.ShardPath(t.TempDir(), 0)
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	set := open(t, path, Options{SkipBad: SkipBad{Count: 1}, OnSkip: func(s Skipped) { t.Errorf("told: %v", s) }})
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		s, err := set.Records().Start(ctx, From{})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2*time.Millisecond, cancel)
		if _, err := s.Next(); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		s.Close()
	}
}

// A pipe without data, whether it has a writer or not, holds no processor token, and can be closed
// at once.
func TestSilentPipesHoldNothing(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 2000, 0, 0)
	for i := 1; i < 3; i++ {
		if err := os.Remove(readertest.ShardPath(dir, i)); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(readertest.ShardPath(dir, i), 0o644); err != nil {
			t.Skipf("no pipes here: %v", err)
		}
	}
	for range 3 {
		set, err := OpenAll(t.Context(), []string{readertest.ShardPath(dir, 0), readertest.ShardPath(dir, 1), readertest.ShardPath(dir, 2)}, Options{Unordered: true, Parallelism: 1, Memory: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Map(set.Interleave(3, 1), idFrom, MapOptions{}).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		mute, err := os.OpenFile(readertest.ShardPath(dir, 1), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
		}
		s.Close()
		mute.Close()
	}
}
