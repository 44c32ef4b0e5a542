package convert

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/manifest"
)

// batches is a backend that processes several images at once, and may fail.
type batches struct {
	calls, tasks, most atomic.Int64
	failFrom           int64 // first call that fails; 0: none
}

var errBackend = errors.New("the GPU is gone")

func (b *batches) Batch() int { return 5 }

func (b *batches) Render(tasks []*augment.Task) error {
	if n := b.calls.Add(1); b.failFrom > 0 && n >= b.failFrom {
		return errBackend
	}
	b.tasks.Add(int64(len(tasks)))
	for n := int64(len(tasks)); n > b.most.Load(); {
		b.most.Store(n)
	}
	return augment.CPU{}.Render(tasks)
}

// demo copies some photographs to a directory, and adds files that are not images, are damaged, or
// are too small.
func demo(t *testing.T) string {
	t.Helper()
	src := t.TempDir()
	files, err := filepath.Glob("../testdata/demo/photos/*/*.jpg")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	for i, file := range files[:20] {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if i%7 == 3 {
			data = data[:len(data)/2]
		}
		put(t, src, filepath.Join("c", filepath.Base(file)), data)
	}
	put(t, src, "c/a.jpg", []byte("no picture"))
	put(t, src, "c/b.png", pngOf(3))
	return src
}

// TestBackendsMakeTheSameSet converts with the CPU alone, and in batches.
func TestBackendsMakeTheSameSet(t *testing.T) {
	t.Parallel()
	src := demo(t)
	cases := []struct {
		name string
		o    ImageOptions
	}{
		{"jpeg", ImageOptions{Resize: augment.ResizeSpec{Square: 48}}},
		{"raw", ImageOptions{Resize: augment.ResizeSpec{Width: 60, Height: 40, Fit: augment.Pad, NoAntialias: true}, Encode: EncodeSpec{Format: Raw}, Select: SelectSpec{MinSize: 40}}},
		{"float32", ImageOptions{Encode: EncodeSpec{Format: Float32, Normalize: augment.Normalize{Mean: [3]float32{.5, .4, .3}, Std: [3]float32{.2, .3, .4}}}, Resize: augment.ResizeSpec{Square: 32, NoAntialias: true}}},
		{"variants", ImageOptions{Encode: EncodeSpec{Format: PNG}, Augment: AugmentSpec{Policy: policy(t, "random_resized_crop:40|hflip|color_jitter:0.4,0.4,0.4,0.1"), Copies: 2, KeepOriginal: true}}},
		{"gray", ImageOptions{Encode: EncodeSpec{Channels: 1}, Resize: augment.ResizeSpec{Square: 48}, ExactPixels: true}},
		{"kept", ImageOptions{}},
	}
	for _, c := range cases[:race.Few(len(cases), 2)] {
		t.Run(c.name, func(t *testing.T) {
			o := c.o
			o.Name, o.Shards, o.MaxErrors = "pets", 2, Tolerance{Count: 100}
			want, plain := t.TempDir(), o
			first := mustImages(t, src, want, plain)
			if first.Errors < 3 {
				t.Fatalf("%d pictures are unusable: want some", first.Errors)
			}
			for _, workers := range []int{1, 3} {
				b := new(batches)
				o.Backend, o.Workers = b, workers
				out := t.TempDir()
				mustImages(t, src, out, o)
				sameSet(t, contents(t, out), contents(t, want))
				if kept := c.name == "kept"; (b.tasks.Load() == 0) != kept || b.most.Load() < 3 != kept {
					t.Errorf("%d pictures in %d batches, of %d at most", b.tasks.Load(), b.calls.Load(), b.most.Load())
				}
				if s := mustImages(t, src, out, plain); s.Status != UpToDate {
					t.Errorf("the same without a backend is %s", s.Status)
				}
			}
		})
	}
}

// TestBackendThatFails: a run fails without losing anything, and the next one, on the CPU,
// continues from what is finished.
func TestBackendThatFails(t *testing.T) {
	t.Parallel()
	src := directories(t, 60)
	o := ImageOptions{Options: Options{Shards: 6, Workers: 1}, Resize: augment.ResizeSpec{Square: 8, NoAntialias: true}, Encode: EncodeSpec{Format: Raw}}
	want := t.TempDir()
	mustImages(t, src, want, o)

	out := t.TempDir()
	failing := o
	failing.Backend = &batches{failFrom: 8}
	if _, err := Images(context.Background(), src, out, failing); !errors.Is(err, errBackend) {
		t.Fatalf("the run: %v; want the backend's error", err)
	}
	if _, ok := contents(t, out)[manifest.File]; ok {
		t.Error("there is a manifest")
	}
	s := mustImages(t, src, out, o)
	if s.Status != Resumed || s.ShardsKept == 0 {
		t.Errorf("%+v", s)
	}
	sameSet(t, contents(t, out), contents(t, want))
}

// refusing is a backend that only counts how many images it was given.
type refusing struct{ given atomic.Int64 }

func (b *refusing) Batch() int { return 32 }

func (b *refusing) Render(tasks []*augment.Task) error {
	b.given.Store(int64(len(tasks)))
	return errBackend
}

// cancelled is a source whose tasks have a context that has ended.
type cancelled struct{ plan.Source }

func (s *cancelled) Pieces(ctx context.Context, shard int) iter.Seq2[plan.Fill, error] {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return s.Source.Pieces(ctx, shard)
}

// TestInterruptedAfterDecoding: images that were being decoded when the run was interrupted are
// neither rendered nor encoded.
func TestInterruptedAfterDecoding(t *testing.T) {
	t.Parallel()
	b := new(batches)
	o := &ImageOptions{Resize: augment.ResizeSpec{Width: 8, Height: 8, NoAntialias: true}, Backend: b}
	in := &changedInput{&imageInput{o: o, src: directories(t, 9)}, func(s plan.Source) plan.Source { return &cancelled{s} }}
	_, err := plan.Run(t.Context(), in, t.TempDir())
	if n := b.calls.Load(); !errors.Is(err, context.Canceled) || n > 0 {
		t.Errorf("%d batches, %v", n, err)
	}
}

// TestBatchesOfLargeResults checks that the size of results also bounds batches.
func TestBatchesOfLargeResults(t *testing.T) {
	t.Parallel()
	src := directories(t, 32) // which one worker has
	for _, c := range []struct {
		name string
		o    ImageOptions
		want int64
	}{
		{"resized", ImageOptions{Resize: augment.ResizeSpec{Width: 2048, Height: 2048, NoAntialias: true}, Encode: EncodeSpec{Format: Raw}}, 3},
		{"floats", ImageOptions{Resize: augment.ResizeSpec{Width: 1024, Height: 1024, NoAntialias: true}, Encode: EncodeSpec{Format: Float32}}, 3},
		{"drawn", ImageOptions{Augment: AugmentSpec{Policy: policy(t, "resize:2048x2048")}}, 3},
		{"small", ImageOptions{Resize: augment.ResizeSpec{Width: 8, Height: 8, NoAntialias: true}, Encode: EncodeSpec{Format: Raw}}, 32},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := new(refusing)
			c.o.Options, c.o.Backend = Options{Shards: 1, Workers: 1}, b
			if _, err := Images(context.Background(), src, t.TempDir(), c.o); !errors.Is(err, errBackend) {
				t.Fatalf("the run: %v; want the backend's error", err)
			}
			if given := b.given.Load(); given != c.want {
				t.Errorf("%d images in a batch; want %d", given, c.want)
			}
		})
	}
}
