package plan

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
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// copies is a source whose records cost nothing to make: each is a copy of the same bytes.
type copies struct {
	Source         // what is not asked for
	shards, pieces int
	each           int // records of a piece
	record         []byte
	takes          time.Duration // to make a piece
}

func (c *copies) jobs() []Shard {
	var shards []Shard
	for i := range c.shards {
		shards = append(shards, Shard{Name: shard.Name{Dataset: "copies", Split: "train", Index: i, Count: c.shards}, Samples: int64(c.pieces * c.each)})
	}
	return shards
}

func (c *copies) Place() string                              { return "" }
func (c *copies) Prepare(context.Context, []int, bool) error { return nil }
func (c *copies) Rest()                                      {}
func (c *copies) AnyOrder() bool                             { return true }
func (c *copies) LabelCounts(map[int32]int64) map[string]int64 {
	return nil
}

func (c *copies) Pieces(context.Context, int) iter.Seq2[Fill, error] {
	return func(yield func(Fill, error) bool) {
		for range c.pieces {
			ok := yield(func(p *Piece) error {
				time.Sleep(c.takes)
				for range c.each {
					start := len(p.Frames)
					p.Frames = tfrecord.AppendFrame(p.Frames, c.record)
					p.Sizes = append(p.Sizes, len(p.Frames)-start)
				}
				p.Samples += int64(c.each)
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
	shards := c.jobs()
	r := emptyRun(&Options{Name: "copies", Workers: workers}, shards, manifest.Manifest{}, nil, Codecs{})
	r.source, r.dir = c, dir
	all := make([]int, len(shards))
	for i := range all {
		all[i] = i
	}
	return r.make(ctx, all)
}

// Several shards are written at once: the first write of a shard waits here for one of another. It
// would wait for ever otherwise, which testing/synctest notices.
func TestShardsAreWrittenAtOnce(t *testing.T) { synctest.Test(t, writeShardsAtOnce) }

func writeShardsAtOnce(t *testing.T) {
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
		<-second
		return nil
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
		got, err := os.ReadFile(filepath.Join(out, j.Name.String()))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want others, %v", j.Name, len(got), err)
		}
	}
}

// An operation that fails ends the run, which leaves no temporary file, and no goroutine that waits
// for pieces; shards are complete or do not exist. Without a failure all of them are.
func TestFailingWrites(t *testing.T) {
	operations := []string{"create", "write", "place", "put"}
	failures := make([]atomic.Int64, len(operations))
	t.Run("runs", func(t *testing.T) { testFailingWrites(t, operations, failures) })
	for i, operation := range operations {
		if failures[i].Load() == 0 {
			t.Errorf("no operation %q failed", operation)
		}
	}
}

func testFailingWrites(t *testing.T, operations []string, failures []atomic.Int64) {
	random := torture.Rand(t)
	for i := range 40 {
		operation := operations[i%len(operations)]
		n := 1 + random.Int64N(12)
		if i < len(operations) { // so that each of them fails at least once
			n = 1
		}
		size := []int{0, 1, random.IntN(1000), 40 << 10, 2 << 20}[random.IntN(5)]
		c := &copies{shards: 1 + random.IntN(20), pieces: 1 + random.IntN(20), each: 1 + random.IntN(3), record: bytes.Repeat([]byte("r"), size)}
		if size == 2<<20 {
			c.shards, c.pieces = min(c.shards, 4), min(c.pieces, 4)
		}
		workers := 1 + random.IntN(5)
		t.Run(fmt.Sprintf("%d/%s%d", i, operation, n), func(t *testing.T) {
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
			err := c.write(ctx, out, workers)
			failed := count.Load() >= n
			if failed {
				failures[i%len(operations)].Add(1)
			}
			if failed != errors.Is(err, broken) || !failed && err != nil {
				t.Fatalf("%d of %d operations: %v", count.Load(), n, err)
			}
			if left, err := os.ReadDir(filepath.Join(out, place.TempDir)); err == nil && len(left) > 0 || err != nil && !os.IsNotExist(err) {
				t.Errorf("%d temporary files are left, %v", len(left), err)
			}
			whole := int64(c.pieces * c.each * (len(c.record) + tfrecord.Overhead))
			for _, j := range c.jobs() {
				st, err := os.Stat(filepath.Join(out, j.Name.String()))
				if err == nil && st.Size() != whole || err != nil && !failed {
					t.Errorf("%s: want %d bytes, %v, %v", j.Name, whole, st, err)
				}
			}
		})
	}
}
