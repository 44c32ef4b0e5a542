package readbench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// pictures returns records of images.
func pictures(t testing.TB, n int) (records [][]byte) {
	t.Helper()
	for i := range n {
		data, err := augment.AppendPNG(nil, &augment.Image{Pix: make([]byte, 30*(20+i)*3), Width: 30, Height: 20 + i, Channels: 3, Stride: 90})
		settest.Check(t, err)
		records = append(records, settest.Example(func(b *tfrecord.Builder) { b.Bytes(imagekey.Encoded, data) }))
	}
	return records
}

func TestBench(t *testing.T) {
	rows, images := t.TempDir(), t.TempDir()
	for i := range 3 {
		readertest.WriteFile(t, readertest.ShardPath(rows, i), tfrecord.CompressionNone, settest.Table(300)...)
	}
	for i := range 2 {
		readertest.WriteFile(t, readertest.ShardPath(images, i), tfrecord.CompressionNone, pictures(t, 5)...)
	}
	cases := map[string]struct {
		dir    string
		o      Options
		least  int64
		stages string
	}{
		"raw":     {rows, Options{Batch: 64}, 900, "read interleave batch"},
		"parse":   {rows, Options{Batch: 64, Parse: true}, 900, "read interleave parse"},
		"shuffle": {rows, Options{Parse: true, Shuffle: 100}, 900, "read interleave shuffle parse"},
		"decode":  {images, Options{Batch: 3, Decode: true, Resize: augment.ResizeSpec{Width: 8, Height: 8, NoAntialias: true}}, 10, "read interleave pictures"},
		"longer":  {rows, Options{Batch: 64, For: 30 * time.Millisecond}, 900, "read interleave batch"},
		"parse longer": {rows, Options{Parse: true, Batch: 64, Shuffle: 50, Workers: 3, For: 30 * time.Millisecond}, 900,
			"read interleave shuffle parse"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := Run(context.Background(), []string{c.dir}, c.o)
			if err != nil {
				t.Fatal(err)
			}
			var stages []string
			for _, s := range r.Stages {
				word, _, _ := strings.Cut(s.Name, "(")
				stages = append(stages, word)
				if s.Elements < c.least || s.Workers < 1 {
					t.Errorf("%+v; want at least %d elements", s, c.least)
				}
			}
			if got := strings.Join(stages, " "); got != c.stages {
				t.Errorf("stages %s; want %s", got, c.stages)
			}
			// Whole passes, and the reported part of one more.
			if r.Passes < 1 || r.CutOff < 0 || r.CutOff >= c.least || r.Records != r.Passes*c.least+r.CutOff ||
				c.o.For == 0 && r.Records != c.least {
				t.Errorf("%d records in %d passes over %d, and %d", r.Records, r.Passes, c.least, r.CutOff)
			}
			if r.Memory.Peak <= 0 || r.Memory.Peak > r.Memory.Limit {
				t.Errorf("memory: %+v", r.Memory)
			}
			if r.Records < c.least || r.Seconds < c.o.For.Seconds() || r.RecordsPerSec <= 0 || r.MBPerSec <= 0 || r.Bottleneck == "" {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestBenchErrors(t *testing.T) {
	ctx := context.Background()
	if _, err := Run(ctx, []string{t.TempDir()}, Options{}); !errors.Is(err, shard.ErrNoRecords) {
		t.Error(err)
	}
	empty := readertest.WriteShards(t, tfrecord.CompressionNone, 0)
	if _, err := Run(ctx, []string{empty}, Options{}); err == nil || !strings.Contains(err.Error(), "no record") {
		t.Error(err)
	}
	words := readertest.WriteShards(t, tfrecord.CompressionNone, 5)
	if _, err := Run(ctx, []string{words}, Options{Parse: true}); !errors.Is(err, tfrecord.ErrMalformed) {
		t.Error(err)
	}
	if _, err := Run(ctx, []string{words}, Options{Parse: true, Decode: true}); err == nil {
		t.Error("two pipelines")
	}
}

// TestBenchLimit ends in the first pass.
func TestBenchLimit(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 30_000, 30_000)
	r, err := Run(t.Context(), []string{dir}, Options{Batch: 10, For: time.Hour, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Passes != 0 || r.Records == 0 || r.Records >= 60_000 || r.CutOff != r.Records || r.RecordsPerSec <= 0 {
		t.Errorf("%d records in %d passes, and %d", r.Records, r.Passes, r.CutOff)
	}
}

// TestBenchSkips continues after damage if it may.
func TestBenchSkips(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 30, 30)
	at := readertest.Offsets(t, readertest.ShardPath(dir, 1))
	readertest.Flip(t, readertest.ShardPath(dir, 1), at[7]+tfrecord.HeaderSize)
	var skipped []reader.Skipped
	o := Options{SkipBad: reader.SkipBad{Count: 1}, OnSkip: func(s reader.Skipped) { skipped = append(skipped, s) }}
	r, err := Run(t.Context(), []string{dir}, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Records != 59 || len(skipped) != 1 || skipped[0].Record != 7 {
		t.Errorf("%d records, skipped %v", r.Records, skipped)
	}
}

func TestNegativeOptionsAreRefused(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 3)
	for want, o := range map[string]Options{
		"Batch -1": {Batch: -1}, "Shuffle -1": {Shuffle: -1}, "For -1s": {For: -time.Second}, "Parallelism -1": {Workers: -1},
	} {
		if _, err := Run(t.Context(), []string{dir}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
