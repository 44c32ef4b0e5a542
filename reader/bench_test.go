package reader

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/settest"
	"github.com/tfrec/tfrec/reader/internal/readertest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestBench(t *testing.T) {
	records := settest.Table(300)
	rows := writeRecords(t, Options{}, 3, func(int) [][]byte { return records })
	images := imageSet(t, 5, nil)
	cases := map[string]struct {
		set    *Set
		o      BenchOptions
		least  int64
		stages string
	}{
		"raw":     {rows, BenchOptions{Batch: 64}, 900, "read interleave batch"},
		"parse":   {rows, BenchOptions{Batch: 64, Parse: true}, 900, "read interleave parse"},
		"shuffle": {rows, BenchOptions{Parse: true, Shuffle: 100}, 900, "read interleave shuffle parse"},
		"decode":  {images, BenchOptions{Batch: 3, Decode: true, Resize: augment.ResizeSpec{Width: 8, Height: 8, NoAntialias: true}}, 10, "read interleave pictures"},
		"longer":  {rows, BenchOptions{Batch: 64, For: 30 * time.Millisecond}, 900, "read interleave batch"},
		"parse longer": {rows, BenchOptions{Parse: true, Batch: 64, Shuffle: 50, Workers: 3, For: 30 * time.Millisecond}, 900,
			"read interleave shuffle parse"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var paths []string
			for _, s := range c.set.Sources() {
				paths = append(paths, s.Path)
			}
			r, err := Bench(context.Background(), paths, c.o)
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
	if _, err := Bench(ctx, []string{t.TempDir()}, BenchOptions{}); !errors.Is(err, shard.ErrNoRecords) {
		t.Error(err)
	}
	empty := writeSet(t, Options{}, 0).Sources()[0].Path
	if _, err := Bench(ctx, []string{empty}, BenchOptions{}); err == nil || !strings.Contains(err.Error(), "no record") {
		t.Error(err)
	}
	words := writeSet(t, Options{}, 5).Sources()[0].Path
	if _, err := Bench(ctx, []string{words}, BenchOptions{Parse: true}); !errors.Is(err, tfrecord.ErrMalformed) {
		t.Error(err)
	}
	if _, err := Bench(ctx, []string{words}, BenchOptions{Parse: true, Decode: true}); err == nil {
		t.Error("two pipelines")
	}
}

// TestBenchLimit ends in the first pass.
func TestBenchLimit(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.None, 30_000, 30_000)
	r, err := Bench(t.Context(), []string{dir}, BenchOptions{Batch: 10, For: time.Hour, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Passes != 0 || r.Records == 0 || r.Records >= 60_000 || r.CutOff != r.Records || r.RecordsPerSec <= 0 {
		t.Errorf("%d records in %d passes, and %d", r.Records, r.Passes, r.CutOff)
	}
}

// TestBenchSkips continues after damage if it may.
func TestBenchSkips(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.None, 30, 30)
	at := readertest.Offsets(t, readertest.ShardPath(dir, 1))
	readertest.Flip(t, readertest.ShardPath(dir, 1), at[7]+tfrecord.HeaderSize)
	var skipped []Skipped
	o := BenchOptions{SkipBad: SkipBad{Count: 1}, OnSkip: func(s Skipped) { skipped = append(skipped, s) }}
	r, err := Bench(t.Context(), []string{dir}, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Records != 59 || len(skipped) != 1 || skipped[0].Record != 7 {
		t.Errorf("%d records, skipped %v", r.Records, skipped)
	}
}
