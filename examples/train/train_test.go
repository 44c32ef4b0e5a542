package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/reader"
)

// demo converts the photographs as `make demo` does, smaller, and returns a job
// to train on them.
func demo(t *testing.T) job {
	t.Helper()
	out := filepath.Join(t.TempDir(), "photos")
	_, err := convert.Images(t.Context(), "../../testdata/demo/photos", out, convert.ImageOptions{
		Options: convert.Options{Shards: 2}, Resize: augment.ResizeSpec{Square: 48},
	})
	if err != nil {
		t.Fatal(err)
	}
	return job{data: out, split: "train", every: 7, passes: 12, batch: 8, size: 16, rate: 0.02, seed: 1, out: io.Discard}
}

func TestLossFalls(t *testing.T) {
	j := demo(t)
	p, err := j.train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Losses) != j.passes {
		t.Fatalf("%d passes; want %d", len(p.Losses), j.passes)
	}
	// Guessing has a loss of log 5; the first pass is little better.
	first, last := p.Losses[0], p.Losses[len(p.Losses)-1]
	if guess := math.Log(5); first > 2*guess || last > 0.6*guess || last > 0.6*first {
		t.Errorf("the loss went from %.3f to %.3f; want less than 0.6 of both that and %.3f", first, last, guess)
	}
	set, batches, err := j.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	right, all := 0, 0
	for batch, err := range batches.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i, label := range batch.Labels {
			odds := p.Model.classify(batch.Pixels[i*p.Model.Inputs:])
			if int64(slices.Index(odds, slices.Max(odds))) == label {
				right++
			}
			all++
		}
	}
	if share := float64(right) / float64(all); share < 0.7 {
		t.Errorf("%.0f%% of the images of %s are told right", 100*share, set.Sources()[0].Path)
	}
}

// A training that is stopped and resumed, again and again, ends with the weights
// of one that is not.
func TestResumedTrainingIsTheSame(t *testing.T) {
	j := demo(t)
	j.passes, j.batch = 4, 7 // batches go across the ends of passes
	whole, err := j.train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	j.checkpoint = filepath.Join(t.TempDir(), "checkpoint.json")
	var parts *progress
	stops := 0
	for ; ; stops++ {
		ctx, cancel := context.WithCancel(t.Context())
		j.out = writerFunc(func(p []byte) {
			if bytes.HasPrefix(p, []byte("pass")) {
				cancel()
			}
		})
		if parts, err = j.train(ctx); err == nil {
			cancel()
			break
		}
		cancel()
		if !errors.Is(err, context.Canceled) || stops == j.passes {
			t.Fatalf("stopped %d times: %v", stops, err)
		}
	}
	if stops < 2 {
		t.Errorf("stopped %d times only", stops)
	}
	if parts.Seen != whole.Seen || !slices.Equal(parts.Model.Weights, whole.Model.Weights) || !slices.Equal(parts.Losses, whole.Losses) {
		t.Errorf("%d images, losses %v; want %d, %v", parts.Seen, parts.Losses, whole.Seen, whole.Losses)
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

func TestWhatCannotBeTrainedOn(t *testing.T) {
	j := demo(t)
	j.checkpoint = filepath.Join(t.TempDir(), "checkpoint.json")
	if err := os.WriteFile(j.checkpoint, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := j.train(t.Context()); err == nil {
		t.Error("a broken checkpoint")
	}
	// One of another pipeline is refused.
	if err := (&progress{Model: newModel(1, 1)}).save(j.checkpoint); err != nil {
		t.Fatal(err)
	}
	if _, err := j.train(t.Context()); !errors.Is(err, reader.ErrState) {
		t.Errorf("%v; want ErrState", err)
	}
}
