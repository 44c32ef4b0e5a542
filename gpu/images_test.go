package gpu_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// imageSet writes a set of n JPEGs of w x h pixels or less. If damaged, every seventh is cut off.
func imageSet(t testing.TB, n, w, h int, damaged bool) *reader.Set {
	t.Helper()
	codec, err := augment.NewCodec(augment.CodecOptions{Decoder: "go"})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 9))
	var frames []byte
	for i := range n {
		data := encoded(t, codec, rng, w-i%5, h-i%7, []string{"420", "444", "gray"}[i%3])
		if damaged && i%7 == 3 {
			data = data[:len(data)/2]
		}
		var b tfrecord.Builder
		b.Bytes(reader.DefaultImageKey, data)
		b.Int64(reader.DefaultLabelKey, int64(i))
		frames = tfrecord.AppendFrame(frames, b.Append(nil))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "images.tfrecord"), frames, 0o666); err != nil {
		t.Fatal(err)
	}
	_, timed := t.(*testing.B)
	set, err := reader.Open(t.Context(), dir, reader.Options{Seed: 3, SkipBad: reader.SkipBad{Share: 1}, PoisonRecycled: !timed})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// trainingSpecs are specs of all types and forms, some whose rows are a multiple of 16 bytes and
// some whose rows are not.
func trainingSpecs(t testing.TB) (specs []reader.ImageSpec) {
	t.Helper()
	for i, text := range []string{"", "random_resized_crop:24|hflip|color_jitter:0.4,0.4,0.4,0.1", "rotate:20|one_of:p=0.3(jpeg:50..90)"} {
		var policy *augment.Policy
		if text != "" {
			var err error
			if policy, err = augment.ParsePolicy(text); err != nil {
				t.Fatal(err)
			}
		}
		for _, dtype := range []reader.DType{reader.Uint8, reader.Float32, reader.BFloat16} {
			for _, nchw := range []bool{false, true} {
				specs = append(specs, reader.ImageSpec{
					Resize: augment.ResizeSpec{Width: 16 + 3*i, Height: 12},
					Policy: policy, DType: dtype, NCHW: nchw, Batch: 10, Classes: 100,
					Mix:       augment.Mix{CutMix: float64(i % 2)},
					Normalize: augment.Normalize{Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}},
				})
			}
		}
	}
	return specs
}

// readImages reads clones of all batches, after a stop and a State in the middle.
func readImages(t testing.TB, set *reader.Set, spec reader.ImageSpec) (batches []*reader.ImageBatch) {
	t.Helper()
	images := reader.Images(set.Records(), spec)
	var state reader.State
	for b, err := range images.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b.Clone())
		if state = b.State(); len(batches) == 2 {
			break
		}
	}
	s, err := images.Start(t.Context(), reader.From{State: &state})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for b, err := range s.All() {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b.Clone())
	}
	return batches
}

// sameBatches compares batches.
func sameBatches(t testing.TB, what string, got, want []*reader.ImageBatch) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(reader.ImageBatch{}, columns.Column{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: (-want +got)\n%.2000s", what, diff)
	}
}

// TestImages reads batches for training, with the CPU's bytes.
func TestImages(t *testing.T) {
	set := imageSet(t, 45, 60, 50, true)
	b := open(t, gpu.Options{Required: true, Batch: 6})
	for i, spec := range trainingSpecs(t) {
		want := readImages(t, set, spec)
		spec.Backend = b
		sameBatches(t, fmt.Sprint("spec ", i), readImages(t, set, spec), want)
		if s := b.Stats(); s.Pinned != 0 || s.Unpinned != 0 {
			t.Fatalf("%d bytes are pinned after Close, %d requests refused", s.Pinned, s.Unpinned)
		}
	}
	if s := b.Stats(); s.GPU < 10*s.CPU {
		t.Errorf("%+v", s)
	}
}

// TestImagesDecoded has nvJPEG decode; the fake one rounds as the CPU does.
func TestImagesDecoded(t *testing.T) {
	set := imageSet(t, 45, 60, 50, true)
	b, _ := openDecoding(t)
	spec := reader.ImageSpec{Size: 16, Batch: 10, ExactPixels: true}
	want := readImages(t, set, spec)
	spec.Backend = b
	got := readImages(t, set, spec)
	for _, batch := range got {
		for i, name := range batch.Decoders {
			if len(batch.Decoders) != batch.Shape[0] || !strings.HasPrefix(name, "nvjpeg ") {
				t.Errorf("image %d of %d, of %d names, was decoded by %q", i, batch.Shape[0], len(batch.Decoders), name)
			}
		}
		batch.Decoders = nil
	}
	if strings.HasPrefix(b.Device().Name, "tfrec's fake") {
		sameBatches(t, "decoded", got, want)
	}
}

// BenchmarkImages reads images for training: JPEGs of 500x375 as floats of 224x224. One operation is
// an image.
func BenchmarkImages(b *testing.B) {
	set := imageSet(b, 256, 500, 375, false)
	for _, c := range []struct{ name, policy string }{{"resize", ""}, {"heavy", "random_resized_crop:224|rotate:15|color_jitter:0.4,0.4,0.4,0.1|random_erasing"}} {
		spec := reader.ImageSpec{Size: 224, Batch: 64, DType: reader.Float32, NCHW: true}
		if testing.Short() {
			spec.Batch = 8
		}
		if c.policy != "" {
			var err error
			if spec.Policy, err = augment.ParsePolicy(c.policy); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(c.name+"/cpu", func(b *testing.B) { benchmarkImages(b, set, spec) })
		for _, o := range []gpu.Options{{Required: true}, {Required: true, Decode: true}} {
			name := c.name + "/gpu"
			if o.Decode {
				name = c.name + "/gpu-decode"
			}
			b.Run(name, func(b *testing.B) {
				o.Batch = spec.Batch
				spec.Backend = open(b, o)
				benchmarkImages(b, set, spec)
			})
		}
	}
}

func benchmarkImages(b *testing.B, set *reader.Set, spec reader.ImageSpec) {
	s, err := reader.Images(set.Records().Repeat(-1), spec).Start(b.Context(), reader.From{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	left := 0
	for b.Loop() {
		if left--; left >= 0 {
			continue
		}
		batch, err := s.Next()
		if err != nil {
			b.Fatal(err)
		}
		left = batch.Shape[0] - 1
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "images/s")
}
