package reader

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// benchmarkImages reads a set of images repeatedly; one operation is one image, or one frame.
func benchmarkImages(b *testing.B, set *Set, spec ImageSpec) {
	s, err := Images(set.Records().Repeat(-1), spec).Start(b.Context(), From{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ReportAllocs()
	left := 0
	for b.Loop() {
		if left--; left >= 0 {
			continue
		}
		batch, err := s.Next()
		if err != nil {
			b.Fatal(err)
		}
		if left = batch.Shape[0] - 1; batch.Lengths != nil {
			left = batch.Shape[0]*batch.Shape[1] - 1
		}
	}
}

// benchmarkTypes is benchmarkImages with each type and layout.
func benchmarkTypes(b *testing.B, set *Set) {
	for _, dtype := range []DType{Uint8, Float32, Float16, BFloat16} {
		spec := ImageSpec{Size: 224, DType: dtype, Batch: 32}
		b.Run(dtype.String(), func(b *testing.B) { benchmarkImages(b, set, spec) })
		spec.NCHW = true
		b.Run(dtype.String()+"/NCHW", func(b *testing.B) { benchmarkImages(b, set, spec) })
	}
}

// BenchmarkImagesRaw reads pixels that need neither decoding nor resizing.
func BenchmarkImagesRaw(b *testing.B) {
	im := randomImage(rand.New(rand.NewPCG(1, 2)), 224, 224, 3)
	set := writeRecords(b, Options{}, 1, func(int) [][]byte {
		var records [][]byte
		for i := range 64 {
			records = append(records, settest.Example(func(b *tfrecord.Builder) {
				b.Bytes(DefaultImageKey, im.Pix)
				b.String("image/format", "raw")
				b.Int64("image/height", 224)
				b.Int64("image/width", 224)
				b.Int64("image/channels", 3)
				b.Int64(DefaultLabelKey, int64(i))
			}))
		}
		return records
	})
	benchmarkTypes(b, set)
	for _, dtype := range []DType{Uint8, Float32, Float16, BFloat16} {
		spec := ImageSpec{Size: 224, DType: dtype, Batch: 32, Mix: augment.Mix{MixUp: 1}}
		b.Run(dtype.String()+"/MixUp", func(b *testing.B) { benchmarkImages(b, set, spec) })
		spec.Mix = augment.Mix{CutMix: 1}
		b.Run(dtype.String()+"/CutMix", func(b *testing.B) { benchmarkImages(b, set, spec) })
	}
	spec := ImageSpec{Size: 224, Batch: 32, Columns: columns.Schema{
		{Key: DefaultLabelKey, Kind: tfrecord.KindInt64}, {Key: "image/format", Kind: tfrecord.KindBytes},
	}}
	b.Run("uint8/Columns", func(b *testing.B) { benchmarkImages(b, set, spec) })
}

// BenchmarkImagesJPEG decodes photographs.
func BenchmarkImagesJPEG(b *testing.B) {
	files, err := filepath.Glob("../testdata/demo/photos/*/*.jpg")
	if err != nil || len(files) == 0 {
		b.Fatal("no photographs", err)
	}
	set := writeRecords(b, Options{}, 1, func(int) [][]byte {
		var records [][]byte
		for i, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			records = append(records, settest.Example(func(b *tfrecord.Builder) {
				b.Bytes(DefaultImageKey, data)
				b.Int64(DefaultLabelKey, int64(i))
			}))
		}
		return records
	})
	benchmarkTypes(b, set)
}

// BenchmarkImagesObjects decodes the same photographs without and with their 10 boxes each, as stored
// and after a policy.
func BenchmarkImagesObjects(b *testing.B) {
	files, err := filepath.Glob("../testdata/demo/photos/*/*.jpg")
	if err != nil || len(files) == 0 {
		b.Fatal("no photographs", err)
	}
	var photos [][]byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		photos = append(photos, data)
	}
	set := boxedSet(b, len(photos), 10, photos...)
	policy, err := augment.ParsePolicy("hflip|random_resized_crop:224")
	if err != nil {
		b.Fatal(err)
	}
	for _, policy := range []*augment.Policy{nil, policy} {
		for i, name := range []string{"images", "ragged", "padded"} {
			spec := ImageSpec{Size: 224, Batch: 32, NoLabels: true, Policy: policy}
			spec.Objects = []*columns.ObjectSpec{nil, {}, {MaxBoxes: 20}}[i]
			if policy != nil {
				name += "/policy"
			}
			b.Run(name, func(b *testing.B) { benchmarkImages(b, set, spec) })
		}
	}
}

// BenchmarkFrames decodes the same photographs, in batches of 64, as one a record, and as frames.
func BenchmarkFrames(b *testing.B) {
	files, err := filepath.Glob("../testdata/demo/photos/*/*.jpg")
	if err != nil || len(files) == 0 {
		b.Fatal("no photographs", err)
	}
	var photos [][]byte
	for i := range 64 {
		data, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			b.Fatal(err)
		}
		photos = append(photos, data)
	}
	for _, frames := range []int{0, 1, 16, 64} {
		set := writeRecords(b, Options{}, 1, func(int) (records [][]byte) {
			for clip := range slices.Chunk(photos, max(frames, 1)) {
				records = append(records, settest.Example(func(b *tfrecord.Builder) { b.Bytes(DefaultImageKey, clip...) }))
			}
			return records
		})
		spec := ImageSpec{Size: 224, NoLabels: true, Batch: 64 / max(frames, 1)}
		name := "images"
		if frames > 0 {
			name, spec.Steps, spec.Frames = fmt.Sprint("clips of ", frames), columns.FlatSteps, frames
		}
		b.Run(name, func(b *testing.B) { benchmarkImages(b, set, spec) })
	}
}
