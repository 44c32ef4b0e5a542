package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// largePhotograph is a photograph enlarged to w x h pixels, as JPEG.
func largePhotograph(t testing.TB, w, h int) []byte {
	t.Helper()
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../testdata/demo/photos/*/*.jpg")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	small, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var im, large augment.Image
	if _, err := codec.Decode(&im, small, augment.DecodeOptions{Channels: 3}); err != nil {
		t.Fatal(err)
	}
	r := augment.ResizeSpec{Width: w, Height: h, Fit: augment.Stretch, NoAntialias: true}
	if err := r.Render(&large, &im, r.Geometry(im.Width, im.Height), nil); err != nil {
		t.Fatal(err)
	}
	data, err := codec.AppendJPEG(nil, &large, 90, "420")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Arrays make the same set where they are stored and where they are copied into their frames: for
// lack of room there, and in batches. Some are small, others large, and sizes differ.
func TestLargeArraysMakeTheSameSet(t *testing.T) {
	t.Parallel()
	rng := torture.Rand(t)
	src := t.TempDir()
	var table strings.Builder
	table.WriteString("path,label,caption\n")
	for i := range race.Few(12, 6) {
		w := 8 + rng.IntN(1193) // no side is over 65535
		h := max(1, (rng.IntN(3)*plan.LargeArray/2+rng.IntN(9)-4)/w/3)
		name := fmt.Sprintf("%d.jpg", i)
		put(t, src, name, largePhotograph(t, w, h))
		// The label is before the image in a record, the caption after it.
		fmt.Fprintf(&table, "%s,a%s,b%s\n", name, strings.Repeat("l", rng.IntN(2)*rng.IntN(2*plan.LargeHead)), strings.Repeat("c", rng.IntN(2)*rng.IntN(2*plan.LargeTail)))
	}
	file := filepath.Join(t.TempDir(), "table.csv")
	put(t, filepath.Dir(file), "table.csv", []byte(table.String()))
	all := []ImageOptions{
		{Encode: EncodeSpec{Format: Raw}},
		{Encode: EncodeSpec{Format: Raw, Channels: 1}},
		{Encode: EncodeSpec{Format: Raw}, Resize: augment.ResizeSpec{Square: 700, NoAntialias: true}},
		{Encode: EncodeSpec{Format: Raw}, Augment: AugmentSpec{Policy: policy(t, "rotate:20"), Copies: 2}},
		{Encode: EncodeSpec{Format: Float32}},
	}
	for _, o := range all[:race.Few(len(all), 2)] {
		o.Name, o.Shards, o.Labels.File, o.Features = "photos", 2, file, []FeatureSpec{{Name: "caption"}}
		var want map[string]string
		for _, c := range []struct {
			backend augment.Backend
			workers int
			memory  int64
		}{{new(batches), 1, 0}, {nil, 1, 0}, {nil, 4, 0}, {nil, 4, 1 << 20}, {augment.CPU{}, 2, 0}} {
			o.Backend, o.Workers, o.Memory = c.backend, c.workers, c.memory
			out := t.TempDir()
			mustImages(t, src, out, o)
			if got := contents(t, out); want == nil {
				want = got
			} else {
				sameSet(t, got, want)
			}
		}
	}
}

// A worker makes one array after the other in the same memory, which counts as that of their piece.
func TestLargeArraysAreMadeOnce(t *testing.T) {
	race.Skip(t) // its pools forget
	const w, h, images = 1600, 1200, 16
	src := t.TempDir()
	photo := largePhotograph(t, w, h)
	for i := range images {
		put(t, src, fmt.Sprintf("%02d.jpg", i), photo)
	}
	for _, o := range []ImageOptions{
		{Encode: EncodeSpec{Format: Raw}},
		{Encode: EncodeSpec{Format: Raw}, Resize: augment.ResizeSpec{Width: w, Height: h, Filter: augment.Nearest, NoAntialias: true}},
		{Encode: EncodeSpec{Format: Float32}, Resize: augment.ResizeSpec{Width: w / 2, Height: h / 2, NoAntialias: true}}, // as large
	} {
		o.Name, o.Workers, o.Labels.None = "photos", 1, true
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		mustImages(t, src, t.TempDir(), o)
		runtime.ReadMemStats(&after)
		arrays := float64(after.TotalAlloc-before.TotalAlloc) / (3 * w * h)
		if arrays > 1.5*images { // at least three for each where they are copied
			t.Errorf("%s, resized to %d: memory of %.1f arrays is allocated for %d", o.Encode.Format, o.Resize.Width, arrays, images)
		}
		t.Logf("%s, resized to %d: memory of %.1f arrays is allocated for %d", o.Encode.Format, o.Resize.Width, arrays, images)
	}
}

// BenchmarkLargeArrays stores photographs of 25 megapixels as arrays, and reports the peak heap size,
// including garbage, by worker in multiples of an array.
func BenchmarkLargeArrays(b *testing.B) {
	const w, h, images = 6144, 4096, 8
	src := b.TempDir()
	photo := largePhotograph(b, w, h)
	for i := range images {
		put(b, src, fmt.Sprintf("%d.jpg", i), photo)
	}
	for _, c := range []struct {
		name  string
		o     ImageOptions
		bytes float64
	}{
		{"raw", ImageOptions{Encode: EncodeSpec{Format: Raw}}, 3 * w * h},
		{"enlarged", ImageOptions{Encode: EncodeSpec{Format: Raw}, Resize: augment.ResizeSpec{Width: 7680, Height: 5120, NoAntialias: true}}, 3 * 7680 * 5120},
		{"float32", ImageOptions{Encode: EncodeSpec{Format: Float32}}, 12 * w * h},
	} {
		for _, workers := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("%s/workers=%d", c.name, workers), func(b *testing.B) {
				o := c.o
				o.Name, o.Workers, o.Labels.None, o.Memory = "photos", workers, true, 16<<30
				for b.Loop() {
					runtime.GC()
					peak := sampleHeap()
					mustImages(b, src, b.TempDir(), o)
					b.ReportMetric(float64(peak())/c.bytes/float64(workers), "arrays/worker")
				}
			})
		}
	}
}
