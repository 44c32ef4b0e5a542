package reader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// write writes the files of the set.
func (t *trial) write(tb testing.TB, dir string) {
	compression := tfrecord.CompressionNone
	if t.Gzip {
		compression = tfrecord.CompressionGzip
	}
	for i, sizes := range t.Files {
		records := make([][]byte, len(sizes))
		for k, size := range sizes {
			records[k] = t.content(int32(i), int64(k), size)
		}
		readertest.WriteFile(tb, readertest.ShardPath(dir, i), compression, records...)
	}
}

// run runs the trial and compares everything returned with the model.
func (t *trial) run(ctx context.Context, dir string) error {
	set, err := Open(ctx, dir, Options{Seed: t.Seed, Memory: t.Memory, Parallelism: t.Parallelism, PoisonRecycled: true})
	if err != nil {
		return err
	}
	var want []item
	ends := []int{} // of epochs, in want
	for i := range t.Epochs {
		want = append(want, t.received(t.Epoch+int64(i))...)
		ends = append(ends, len(want))
	}
	c, err := t.start(ctx, t.pipe(set, dir, t.Steps), nil)
	if err != nil {
		return err
	}
	defer func() { c.close() }()
	got, epoch := 0, 0
	for _, stop := range append(slices.Clone(t.Stops), -1) {
		for stop < 0 || got < stop {
			items, err := c.next()
			if err == io.EOF {
				if got != ends[epoch] {
					return fmt.Errorf("epoch %d ended after %d records, want %d", t.Epoch+int64(epoch), got, ends[epoch])
				}
				if epoch++; epoch == t.Epochs {
					break
				}
				if err := c.nextEpoch(); err != nil {
					return fmt.Errorf("next epoch: %w", err)
				}
				continue
			}
			if err != nil {
				return fmt.Errorf("after %d records: %w", got, err)
			}
			if got+len(items) > ends[epoch] {
				return fmt.Errorf("epoch %d has more than %d records", t.Epoch+int64(epoch), ends[epoch])
			}
			for _, r := range items {
				if err := t.compare(r, want[got]); err != nil {
					return fmt.Errorf("record %d: %w", got, err)
				}
				got++
			}
		}
		if epoch == t.Epochs || stop < 0 {
			break
		}
		state, err := roundTrip(c.state())
		if err != nil {
			return err
		}
		c.close()
		resumed, err := t.start(ctx, t.pipe(set, dir, t.Steps), &state)
		if err != nil {
			return fmt.Errorf("resume after %d records: %w", got, err)
		}
		c = resumed
	}
	return nil
}

// compare compares a record with the expected one.
func (t *trial) compare(r Record, want item) error {
	if r.File != want.file || r.Number != want.number || r.Epoch >= 0 && r.Epoch != want.epoch {
		return fmt.Errorf("got record %d of file %d in pass %d, want %d of %d in %d", r.Number, r.File, r.Epoch, want.number, want.file, want.epoch)
	}
	if r.Data != nil && !bytes.Equal(r.Data, t.content(r.File, r.Number, want.size)) {
		return fmt.Errorf("other bytes: got %d, want %d as content(%d, %d) makes them", len(r.Data), want.size, r.File, r.Number)
	}
	return nil
}

func roundTrip(s State) (back State, err error) {
	data, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	return back, err
}

// consumer is a running pipeline, whatever its last step.
type consumer struct {
	next      func() ([]Record, error) // one element's; without Data, and with an Epoch of -1, where these are not known
	nextEpoch func() error
	state     func() State
	close     func() error
}

func (t *trial) start(ctx context.Context, p Pipe, at *State) (*consumer, error) {
	copied := func(r Record) (Record, error) { return r, nil }
	switch t.End {
	case "next", "blocks":
		s, err := p.Start(ctx, t.origin(at))
		if err != nil {
			return nil, err
		}
		next := func() ([]Record, error) {
			r, err := s.Next()
			return []Record{r}, err
		}
		if t.End == "blocks" {
			var last *pipeline.Block
			next = func() ([]Record, error) {
				if last != nil {
					last.Release()
				}
				var err error
				if last, err = nextBlock(s); err != nil {
					return nil, err
				}
				return last.Records, nil
			}
		}
		return &consumer{next, s.NextEpoch, s.State, s.Close}, nil
	case "batch":
		return consumeFlow(ctx, Batch(p, t.Batch, BatchOptions{}), t.origin(at), func(b []Record) []Record { return b })
	case "map":
		return consumeFlow(ctx, Map(p, copied, MapOptions{}), t.origin(at), func(r Record) []Record { return []Record{r} })
	case "elements":
		f := Map(Map(p, copied, MapOptions{Workers: 2}), copied, MapOptions{}).Prefetch(t.Batch)
		return consumeFlow(ctx, Unbatch(Batch(f, t.Batch, BatchOptions{})), t.origin(at), func(r Record) []Record { return []Record{r} })
	case "counted":
		f := Enumerate(Map(p, copied, MapOptions{}).Skip(int64(t.Batch)).Take(1 << 40))
		return consumeFlow(ctx, f, t.origin(at), func(r Indexed[Record]) []Record { return []Record{r.Value} })
	case "buckets":
		f := BucketByLength(Map(p, copied, MapOptions{}), func(r Record) int { return len(r.Data) }, t.buckets())
		return consumeFlow(ctx, f, t.origin(at), func(r []Record) []Record { return r })
	case "columns":
		spec := ColumnSpec{Batch: t.Batch, Schema: columns.Schema{
			{Key: "id", Kind: tfrecord.KindInt64}, {Key: "filler", Kind: tfrecord.KindBytes},
		}}
		return consumeFlow(ctx, ParseColumns(p, spec), t.origin(at), func(b *ColumnBatch) []Record {
			return identified(b.Get("id").Int64s, b.Epoch)
		})
	case "pictures":
		spec := ImageSpec{Batch: t.Batch, Size: 4, Columns: columns.Schema{
			{Key: "id", Kind: tfrecord.KindInt64}, {Key: "filler", Kind: tfrecord.KindBytes},
		}}
		f := Images(p, spec).Filter(func(*ImageBatch) (bool, error) { return true, nil })
		return consumeFlow(ctx, f, t.origin(at), func(b *ImageBatch) []Record {
			ids := b.Columns.Get("id").Int64s
			if !slices.Equal(ids, b.Labels) {
				return nil // too few records
			}
			return identified(ids, b.Epoch)
		})
	}
	return nil, errors.New("no end " + t.End)
}

// identified returns the records of a batch with known IDs, and the pass of the first.
func identified(ids []int64, epoch int32) []Record {
	records := make([]Record, len(ids))
	for i, id := range ids {
		records[i] = Record{File: int32(id >> 32), Number: id & (1<<32 - 1), Epoch: -1}
	}
	records[0].Epoch = epoch
	return records
}

func (t *trial) origin(at *State) From {
	if at != nil {
		return From{State: at}
	}
	return From{Epoch: t.Epoch}
}

func consumeFlow[T any](ctx context.Context, f Flow[T], from From, records func(T) []Record) (*consumer, error) {
	r, err := f.Start(ctx, from)
	if err != nil {
		return nil, err
	}
	next := func() ([]Record, error) {
		v, err := r.Next()
		if err != nil {
			return nil, err
		}
		return records(v), nil
	}
	return &consumer{next, r.NextEpoch, r.State, r.Close}, nil
}

// tinyJPEG is a valid image.
var tinyJPEG = sync.OnceValue(func() []byte {
	im := image.NewRGBA(image.Rect(0, 0, 8, 8))
	im.Set(3, 3, color.White)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, im, nil); err != nil {
		panic(err)
	}
	return b.Bytes()
})

// attempt runs a trial in its own directory. The clock is that of testing/synctest, on which time
// passes only when everything waits: a trial that hangs soon meets its limit.
func (t *trial) attempt(tb *testing.T) error {
	dir, err := os.MkdirTemp(tb.TempDir(), "trial")
	if err != nil {
		tb.Fatal(err)
	}
	t.write(tb, dir)
	synctest.Test(tb, func(bubble *testing.T) {
		ctx, cancel := context.WithTimeout(bubble.Context(), time.Hour)
		defer cancel()
		err = t.run(ctx, dir)
	})
	if err := os.RemoveAll(dir); err != nil {
		tb.Error(err)
	}
	return err
}

// check runs a trial, and reduces one that fails as long as it still fails.
func (t trial) check(tb *testing.T) {
	tb.Helper()
	failed := t.attempt(tb)
	if failed == nil {
		return
	}
	for shrunk := true; shrunk; {
		shrunk = false
		for _, smaller := range t.smaller() {
			if err := smaller.attempt(tb); err != nil {
				t, failed, shrunk = smaller, err, true
				break
			}
		}
	}
	data, err := json.Marshal(t)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Fatalf("%v\nthe smallest trial that fails: %s", failed, data)
}
