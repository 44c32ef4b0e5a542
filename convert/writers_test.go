package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// copies is a source whose records cost nothing to make: each is a copy of the same bytes.
type copies struct {
	source         // what is not asked for
	shards, pieces int
	each           int // records of a piece
	record         []byte
}

func (c *copies) jobs() []job {
	var jobs []job
	for i := range c.shards {
		jobs = append(jobs, job{name: shard.Name{Dataset: "copies", Split: "train", Index: i, Count: c.shards}, samples: int64(c.pieces * c.each)})
	}
	return jobs
}

func (c *copies) place() string                              { return "" }
func (c *copies) prepare(context.Context, []int, bool) error { return nil }
func (c *copies) rest()                                      {}
func (c *copies) labelCounts(map[int32]int64) map[string]int64 {
	return nil
}

func (c *copies) tasks(context.Context, int) iter.Seq2[task, error] {
	return func(yield func(task, error) bool) {
		for range c.pieces {
			ok := yield(func(p *piece) error {
				for range c.each {
					start := len(p.frames)
					p.frames = tfrecord.AppendFrame(p.frames, c.record)
					p.sizes = append(p.sizes, len(p.frames)-start)
				}
				p.samples += int64(c.each)
				return nil
			}, nil)
			if !ok {
				return
			}
		}
	}
}

// convert writes the shards as a run does.
func (c *copies) convert(t testing.TB, workers int) {
	if err := c.write(t.Context(), t.TempDir(), workers); err != nil {
		t.Fatal(err)
	}
}

func (c *copies) write(ctx context.Context, out string, workers int) error {
	dir, err := setdir.Open(ctx, out, setdir.Options{})
	if err != nil {
		return err
	}
	defer dir.Close()
	jobs := c.jobs()
	r := emptyRun(&Options{Name: "copies", Workers: workers}, jobs, manifest.Manifest{}, nil, codecs{})
	r.source, r.dir = c, dir
	all := make([]int, len(jobs))
	for i := range all {
		all[i] = i
	}
	return r.make(ctx, all)
}

// Several shards are written at once: the first write of a shard waits here for one of another.
func TestShardsAreWrittenAtOnce(t *testing.T) {
	c := &copies{shards: 6, pieces: 3, each: 4, record: bytes.Repeat([]byte("r"), 100<<10)}
	var writes atomic.Int64
	second := make(chan struct{})
	var once sync.Once
	ctx := inject.With(t.Context(), func(operation string) error {
		if operation != "write" {
			return nil
		}
		if writes.Add(1) > 1 {
			once.Do(func() { close(second) })
		}
		select {
		case <-second:
			return nil
		case <-time.After(time.Minute):
			return errors.New("no other shard is written at the same time")
		}
	})
	out := t.TempDir()
	if err := c.write(ctx, out, 2); err != nil {
		t.Fatal(err)
	}
	var want []byte
	for range c.pieces * c.each {
		want = tfrecord.AppendFrame(want, c.record)
	}
	for _, j := range c.jobs() {
		got, err := os.ReadFile(filepath.Join(out, j.name.String()))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want others, %v", j.name, len(got), err)
		}
	}
}

// A write that fails ends the run, which leaves no temporary file, and no goroutine that waits for
// pieces; shards are complete or do not exist.
func TestFailingWrites(t *testing.T) {
	c := &copies{shards: 12, pieces: 20, each: 2, record: bytes.Repeat([]byte("r"), 40<<10)}
	for _, operation := range []string{"create", "write", "place", "put"} {
		for _, n := range []int64{1, 2, 7, 11} {
			t.Run(fmt.Sprint(operation, n), func(t *testing.T) {
				t.Parallel()
				broken := errors.New("broken")
				var count atomic.Int64
				ctx := inject.With(t.Context(), func(is string) error {
					if is == operation && count.Add(1) == n {
						return broken
					}
					return nil
				})
				out := t.TempDir()
				if err := c.write(ctx, out, 3); !errors.Is(err, broken) {
					t.Fatalf("%v", err)
				}
				if left, err := os.ReadDir(filepath.Join(out, setdir.TempDir)); err == nil && len(left) > 0 || err != nil && !os.IsNotExist(err) {
					t.Errorf("%d temporary files are left, %v", len(left), err)
				}
				whole := int64(c.pieces * c.each * (len(c.record) + tfrecord.Overhead))
				for _, j := range c.jobs() {
					if st, err := os.Stat(filepath.Join(out, j.name.String())); err == nil && st.Size() != whole {
						t.Errorf("%s has %d bytes, want %d", j.name, st.Size(), whole)
					}
				}
			})
		}
	}
}
