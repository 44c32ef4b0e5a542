package convert

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/tfrecord"
)

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
		{"images, gzip", images(ImageOptions{Options: Options{Compression: tfrecord.CompressionGzip}}), 1}, // few writes
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
					slow := settest.SlowWrites{Takes: time.Second, Fails: fails}
					out := t.TempDir()
					err := is.convert(inject.With(t.Context(), slow.Hook), out, 4)
					writes, most := slow.Writes.Load(), slow.Most.Load()
					if failed := fails > 0 && writes >= fails; errors.Is(err, settest.ErrSlowWrite) != failed || !failed && err != nil {
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
