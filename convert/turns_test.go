package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/tfrecord"
)

// slowWrites makes each write take a time and one of them fail, and counts them and how many are
// made at a time.
type slowWrites struct {
	takes             time.Duration
	fails             int64 // number of the write that fails, from 1; 0: none
	writes, now, most atomic.Int64
}

var errBroken = errors.New("broken")

// hook is for [inject.With].
func (s *slowWrites) hook(operation string) error {
	if operation != "write" {
		return nil
	}
	number, now := s.writes.Add(1), s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	time.Sleep(s.takes)
	if number == s.fails {
		return errBroken
	}
	return nil
}

// Of shards that take longer to write than to make, several are written at a time, as many as make
// up for it; of others one. All become what they are otherwise.
func TestSlowShardsTakeTurns(t *testing.T) {
	type run struct {
		workers     int
		make, write time.Duration // a piece, and of several pieces at once
		least, most int64         // shards at a time, with those that end
	}
	for _, is := range torture.Sample(t, 3, []run{
		{8, 8 * time.Millisecond, 3 * time.Millisecond, 1, 2}, // one begins while the last one ends
		{8, 8 * time.Millisecond, 12 * time.Millisecond, 3, 8},
		{8, 0, 40 * time.Millisecond, 8, 24},
		{2, 0, 40 * time.Millisecond, 2, 4},
		{1, 0, 40 * time.Millisecond, 1, 2},
	}) {
		t.Run(fmt.Sprintf("%d workers, %v to make, %v to write", is.workers, is.make, is.write), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &copies{shards: 24, pieces: 150, each: 1, record: bytes.Repeat([]byte("r"), 70<<10), takes: is.make}
				slow := slowWrites{takes: is.write}
				ctx := inject.With(t.Context(), slow.hook)
				out := t.TempDir()
				began := time.Now()
				if err := c.write(ctx, out, is.workers); err != nil {
					t.Fatal(err)
				}
				took := time.Since(began)
				ideal := max(time.Duration(c.shards*c.pieces)*is.make, time.Duration(slow.writes.Load())*is.write) / time.Duration(is.workers)
				t.Logf("%d shards at a time, %v, %.2f times the ideal", slow.most.Load(), took, took.Seconds()/ideal.Seconds())
				if n := slow.most.Load(); n < is.least || n > is.most {
					t.Errorf("%d shards at a time, want %d to %d", n, is.least, is.most)
				}
				if took.Seconds() > 1.3*ideal.Seconds() {
					t.Errorf("%v, %.2f times the ideal", took, took.Seconds()/ideal.Seconds())
				}
				want := bytes.Repeat(tfrecord.AppendFrame(nil, c.record), c.pieces)
				for _, j := range c.jobs() {
					if got, err := os.ReadFile(filepath.Join(out, j.name.String())); err != nil || !bytes.Equal(got, want) {
						t.Fatalf("%s: %d bytes, want others; %v", j.name, len(got), err)
					}
				}
			})
		})
	}
}

// Shards of images and rows that are made in turns become what they become one after another; also
// if a write fails, or the run ends, and the same command is run again.
func TestTurnsMakeTheSameSet(t *testing.T) {
	src, table := directories(t, 128), writeTable(t, "n.csv", numberedRows(30_000))
	tables := []string{table, writeTable(t, "m.csv", numberedRows(1000))}
	images := func(o ImageOptions) func(context.Context, string, int) error {
		o.Encode.Format, o.Resize = Raw, augment.ResizeSpec{Width: 200, Height: 200, NoAntialias: true}
		return func(ctx context.Context, out string, workers int) error {
			o.Name, o.Shards, o.Workers = "set", 8, workers
			_, err := Images(ctx, src, out, o)
			return err
		}
	}
	job := func(ctx context.Context, out string, workers int) error {
		j, err := BeginImages(ctx, src, out, ImageOptions{
			Options: Options{Name: "set", Shards: 8, Workers: workers},
			Encode:  EncodeSpec{Format: Raw}, Resize: augment.ResizeSpec{Width: 200, Height: 200, NoAntialias: true},
		})
		if err != nil {
			return err
		}
		defer j.Close()
		_, err = j.Run(ctx, makeAll(j, 6, j.Todo()))
		return err
	}
	rows := func(srcs []string, o CSVOptions) func(context.Context, string, int) error {
		return func(ctx context.Context, out string, workers int) error {
			o.Name, o.Shards, o.Workers, o.MaxErrors = "set", 12, workers, Tolerance{Count: 1000}
			_, err := CSV(ctx, srcs, out, o)
			return err
		}
	}
	type conversion struct {
		name    string
		convert func(ctx context.Context, out string, workers int) error
		least   int64 // shards at a time
	}
	for _, is := range torture.Sample(t, 4, []conversion{
		{"images", images(ImageOptions{}), 3},
		{"images, copies", images(ImageOptions{Augment: AugmentSpec{Policy: policy(t, "rotate:20"), Copies: 2}}), 3},
		{"images, gzip", images(ImageOptions{Options: Options{Compression: tfrecord.Gzip}}), 1}, // few writes
		{"images, as a job", job, 3},
		{"rows", rows(tables[:1], CSVOptions{}), 1},
		{"rows, shuffled", rows(tables[:1], CSVOptions{Shuffle: true}), 1},
		{"rows, two tables", rows(tables, CSVOptions{}), 1},
	}) {
		t.Run(is.name, func(t *testing.T) {
			fresh := t.TempDir()
			if err := is.convert(t.Context(), fresh, 1); err != nil {
				t.Fatal(err)
			}
			want := contents(t, fresh)
			for _, fails := range []int64{0, 1, 13} {
				synctest.Test(t, func(t *testing.T) {
					slow := slowWrites{takes: time.Second, fails: fails}
					out := t.TempDir()
					err := is.convert(inject.With(t.Context(), slow.hook), out, 4)
					writes, most := slow.writes.Load(), slow.most.Load()
					if failed := fails > 0 && writes >= fails; errors.Is(err, errBroken) != failed || !failed && err != nil {
						t.Fatalf("%d writes: %v", writes, err)
					}
					t.Logf("%d writes, %d at a time", writes, most)
					if fails == 0 && most < is.least {
						t.Errorf("%d writes at a time, want %d", most, is.least)
					}
					if fails > 0 {
						if err := is.convert(t.Context(), out, 4); err != nil {
							t.Fatal(err)
						}
					}
					sameSet(t, contents(t, out), want)
				})
			}
		})
	}
}
