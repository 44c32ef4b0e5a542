//go:build interop

package interop

import (
	endian "encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// withTorch is a Python that may have PyTorch, which the virtual environment has not.
const withTorch = "/usr/bin/python3"

// imagesAnswer is what images.py answers.
type imagesAnswer struct {
	By     string      `json:"by"`
	Labels [][]float32 `json:"labels"`
}

// startImages starts images.py and returns a function that asks it.
func startImages(t *testing.T, python string) func(do string, request map[string]any) imagesAnswer {
	t.Helper()
	ask := startScript(t, python, "images.py")
	return func(do string, request map[string]any) (answer imagesAnswer) {
		t.Helper()
		request["do"] = do
		ask(t, request, &answer)
		return answer
	}
}

// byEach runs a test with each Python that can judge images.
func byEach(t *testing.T, test func(t *testing.T, ask func(do string, request map[string]any) imagesAnswer)) {
	pythons := map[string]string{"NumPy": *python}
	if exec.Command(withTorch, "-c", "import torch").Run() == nil {
		pythons["PyTorch"] = withTorch
	} else {
		t.Logf("%s has no PyTorch: it is left out (on Debian: apt-get install python3-torch)", withTorch)
	}
	for name, python := range pythons {
		t.Run(name, func(t *testing.T) { test(t, startImages(t, python)) })
	}
}

// imageBatches reads records as images.
func imageBatches(t *testing.T, spec reader.ImageSpec, records ...[]byte) (batches []*reader.ImageBatch) {
	t.Helper()
	set, err := reader.Open(t.Context(), writeFile(t, tfrecord.CompressionNone, records), reader.Options{Seed: 8})
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range reader.Images(set.Records(), spec).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b.Clone())
	}
	return batches
}

// pixelRecord is a record of stored samples.
func pixelRecord(format string, data []byte, w, h, c int, label int64) []byte {
	var b tfrecord.Builder
	b.Bytes(reader.DefaultImageKey, data)
	b.String("image/format", format)
	b.Int64("image/height", int64(h))
	b.Int64("image/width", int64(w))
	b.Int64("image/channels", int64(c))
	b.Int64(reader.DefaultLabelKey, label)
	return b.Append(nil)
}

// sampleBytes are the samples of a batch in memory order.
func sampleBytes(b *reader.ImageBatch) []byte {
	data := slices.Clone(b.Bytes)
	for _, x := range b.Pixels {
		data = endian.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	for _, x := range b.Halves {
		data = endian.LittleEndian.AppendUint16(data, x)
	}
	return data
}

func writeSamples(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func readSamples(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// isNaN reports whether bits of a 16-bit type are a NaN.
func isNaN(dtype reader.DType, bits uint16) bool {
	if dtype == reader.Float16 {
		return bits&0x7fff > 0x7c00
	}
	return bits&0x7fff > 0x7f80
}

// TestHalves converts float32 to float16 and bfloat16 as NumPy, TensorFlow and PyTorch do, and all
// 65536 numbers of either to themselves.
func TestHalves(t *testing.T) {
	byEach(t, func(t *testing.T, ask func(string, map[string]any) imagesAnswer) {
		path := filepath.Join(t.TempDir(), "samples")
		for _, dtype := range []reader.DType{reader.Float16, reader.BFloat16} {
			convert := func(data []byte) []uint16 {
				const side = 256
				spec := reader.ImageSpec{Size: side, Channels: 1, DType: dtype}
				var halves []uint16
				for chunk := range slices.Chunk(data, 4*side*side) {
					halves = append(halves, imageBatches(t, spec, pixelRecord("float32", chunk, side, side, 1, 0))[0].Halves...)
				}
				return halves
			}
			ask("floats", map[string]any{"path": path, "dtype": dtype.String()})
			all := readSamples(t, path)
			for bits, got := range convert(all) {
				if got != uint16(bits) && !(isNaN(dtype, got) && isNaN(dtype, uint16(bits))) {
					t.Fatalf("%v %#04x becomes %#04x", dtype, bits, got)
				}
			}
			rnd := rand.New(rand.NewPCG(4, uint64(dtype)))
			var data []byte
			for i := range 16 << 16 {
				bits := rnd.Uint32()
				switch i % 4 {
				case 1: // near 1, as most samples are
					bits = math.Float32bits(float32(rnd.NormFloat64()))
				case 2: // halfway between two bfloat16 numbers, or next to that
					bits = bits&^0xffff + 0x8000 + bits%3 - 1
				case 3: // the same of float16
					bits = bits&^0x1fff + 0x1000 + bits%3 - 1
				}
				data = endian.LittleEndian.AppendUint32(data, bits)
			}
			writeSamples(t, path, data)
			by := ask("halves", map[string]any{"path": path, "dtype": dtype.String()}).By
			want := readSamples(t, path)
			for i, got := range convert(data) {
				want := endian.LittleEndian.Uint16(want[2*i:])
				if got != want && !(isNaN(dtype, got) && isNaN(dtype, want)) {
					t.Fatalf("%#08x as %v is %#04x, by %s %#04x", endian.LittleEndian.Uint32(data[4*i:]), dtype, got, by, want)
				}
			}
		}
	})
}

// TestMix mixes batches as the expressions of torchvision do.
func TestMix(t *testing.T) {
	const classes = 4
	byEach(t, func(t *testing.T, ask func(string, map[string]any) imagesAnswer) {
		path := filepath.Join(t.TempDir(), "samples")
		boxes, sums := 0, 0
		for seed := range uint64(60) {
			rnd := rand.New(rand.NewPCG(seed, 5))
			w, h, c := 1+rnd.IntN(30), 1+rnd.IntN(30), 1+2*rnd.IntN(2)
			var records [][]byte
			for range 1 + rnd.IntN(12) {
				data := make([]byte, w*h*c)
				for i := range data {
					data[i] = byte(rnd.Uint32())
				}
				records = append(records, pixelRecord("raw", data, w, h, c, rnd.Int64N(classes)))
			}
			spec := reader.ImageSpec{
				Resize: augment.ResizeSpec{Width: w, Height: h, NoAntialias: true}, Channels: c, Batch: 5, Classes: classes,
				DType: reader.DType(seed % 4), NCHW: seed/4%2 == 0,
				Normalize: augment.Normalize{Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}},
			}
			before := imageBatches(t, spec, records...)
			spec.Mix = augment.Mix{MixUp: 1, CutMix: 1}
			for i, b := range imageBatches(t, spec, records...) {
				request := map[string]any{
					"path": path, "dtype": b.DType.String(), "shape": b.Shape, "nchw": spec.NCHW,
					"lam": b.Mix.Lambda, "box": nil, "labels": b.Labels, "classes": classes,
				}
				if box := b.Mix.Box; !box.Empty() {
					request["box"] = []int{box.Min.X, box.Min.Y, box.Max.X, box.Max.Y}
					boxes++
				} else if b.Mix.Lambda != 1 {
					sums++
				}
				writeSamples(t, path, sampleBytes(before[i]))
				answer := ask("mix", request)
				if !slices.Equal(sampleBytes(b), readSamples(t, path)) {
					t.Fatalf("seed %d, batch %d, mixed by %+v: other samples than %s makes", seed, i, request, answer.By)
				}
				if diff := cmp.Diff(slices.Concat(answer.Labels...), b.SoftLabels); diff != "" {
					t.Fatalf("seed %d, batch %d: (-%s +ours)\n%s", seed, i, answer.By, diff)
				}
			}
		}
		if boxes < 20 || sums < 20 {
			t.Errorf("only %d boxes and %d sums", boxes, sums)
		}
	})
}
