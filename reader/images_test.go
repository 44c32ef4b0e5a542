package reader

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// imageSet writes n images of various sizes, the label of each its number,
// with the record of one of them changed by damage.
func imageSet(t testing.TB, n int, damage func(i int, data []byte) []byte) *Set {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 1))
	return writeRecords(t, Options{Seed: 5}, 2, func(file int) (records [][]byte) {
		for i := range n {
			im := randomImage(rnd, 20+rnd.IntN(30), 20+rnd.IntN(30), 3)
			data, err := augment.AppendPNG(nil, im)
			if err != nil {
				t.Fatal(err)
			}
			if damage != nil {
				data = damage(i, data)
			}
			records = append(records, settest.Example(func(b *tfrecord.Builder) {
				b.Bytes(DefaultImageKey, data)
				b.Int64(DefaultLabelKey, int64(100*file+i))
			}))
		}
		return records
	})
}

func randomImage(rnd *rand.Rand, w, h, channels int) *augment.Image {
	im := &augment.Image{}
	im.Reset(w, h, channels)
	for i := range im.Pix {
		im.Pix[i] = uint8(rnd.Uint32())
	}
	return im
}

// expected are the images of a pipe, decoded and resized one by one.
func expected(t *testing.T, p Pipe, spec augment.ResizeSpec, channels int) (images []augment.Image, labels []int64) {
	t.Helper()
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var e tfrecord.Example
	for r, err := range p.All(context.Background()) {
		if err == nil {
			err = e.Parse(r.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
		f, _ := e.Get(DefaultImageKey)
		data, _ := f.Bytes()
		f, _ = e.Get(DefaultLabelKey)
		label, _ := f.Int64()
		var im, small augment.Image
		if _, err := codec.Decode(&im, data, augment.DecodeOptions{Channels: channels}); err != nil {
			t.Fatal(err)
		}
		if err := spec.Apply(&small, &im, nil); err != nil {
			t.Fatal(err)
		}
		images, labels = append(images, small), append(labels, label)
	}
	return images, labels
}

func TestImages(t *testing.T) {
	p := imageSet(t, 9, nil).Interleave(2, 1)
	resize := augment.ResizeSpec{Width: 12, Height: 8}
	normalize := augment.Normalize{Mean: [3]float32{0.4, 0.5, 0.6}, Std: [3]float32{0.2, 0.3, 0.4}}
	for _, channels := range []int{1, 3} {
		images, labels := expected(t, p, resize, channels)
		for _, dtype := range []DType{Uint8, Float32, Float16, BFloat16} {
			for _, nchw := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d %v nchw %v", channels, dtype, nchw), func(t *testing.T) {
					spec := ImageSpec{Resize: resize, Channels: channels, DType: dtype, Normalize: normalize, NCHW: nchw, Batch: 4, Workers: 3}
					at := 0
					for b, err := range Images(p, spec).All(context.Background()) {
						if err != nil {
							t.Fatal(err)
						}
						n := min(4, len(images)-at)
						shape := []int{n, 8, 12, channels}
						if nchw {
							shape = []int{n, channels, 8, 12}
						}
						if !slices.Equal(b.Shape, shape) || !slices.Equal(b.Labels, labels[at:at+n]) {
							t.Fatalf("shape %v, labels %v; want %v, %v", b.Shape, b.Labels, shape, labels[at:at+n])
						}
						for i := range n {
							checkImage(t, b, i, &images[at+i], spec)
						}
						at += n
					}
					if at != len(images) {
						t.Errorf("%d pictures of %d", at, len(images))
					}
				})
			}
		}
	}
}

// checkImage compares image i of a batch, sample by sample.
func checkImage(t *testing.T, b *ImageBatch, i int, im *augment.Image, spec ImageSpec) {
	t.Helper()
	for y := range im.Height {
		for x := range im.Width {
			for c := range im.Channels {
				at := ((i*im.Height+y)*im.Width+x)*im.Channels + c
				if spec.NCHW {
					at = ((i*im.Channels+c)*im.Height+y)*im.Width + x
				}
				sample := im.Row(y)[x*im.Channels+c]
				if spec.DType == Uint8 && b.Bytes[at] != sample {
					t.Fatalf("picture %d, sample (%d,%d,%d) is %d; want %d", i, x, y, c, b.Bytes[at], sample)
				}
				if spec.DType == Float32 && b.Pixels[at] != spec.Normalize.Of(sample, c) {
					t.Fatalf("picture %d, sample (%d,%d,%d) is %v; want %v", i, x, y, c, b.Pixels[at], spec.Normalize.Of(sample, c))
				}
				for _, f := range halfFormats {
					want := f.nearest(float64(spec.Normalize.Of(sample, c)))
					if spec.DType.String() == f.name && b.Halves[at] != want {
						t.Fatalf("image %d, sample (%d,%d,%d) is %#04x; want %#04x", i, x, y, c, b.Halves[at], want)
					}
				}
			}
		}
	}
}

func TestImagesRaw(t *testing.T) {
	im := randomImage(rand.New(rand.NewPCG(2, 2)), 10, 6, 1)
	write := func(height int64) *Set {
		return writeRecords(t, Options{}, 1, func(int) [][]byte {
			return [][]byte{settest.Example(func(b *tfrecord.Builder) {
				b.Bytes(DefaultImageKey, im.Pix)
				b.String("image/format", "raw")
				b.Int64("image/height", height)
				b.Int64("image/width", 10)
				b.Int64("image/channels", 1)
			})}
		})
	}
	spec := ImageSpec{Resize: augment.ResizeSpec{Width: 10, Height: 6, NoAntialias: true}, Channels: 1, NoLabels: true}
	for b, err := range Images(write(6).Records(), spec).All(context.Background()) {
		if err != nil || !slices.Equal(b.Bytes, im.Pix) {
			t.Errorf("%v, %v", err, b)
		}
	}
	for _, err := range Images(write(7).Records(), spec).All(context.Background()) {
		if err == nil {
			t.Error("7 rows of 6")
		}
	}
}

func TestImagesOfFloats(t *testing.T) {
	im := randomImage(rand.New(rand.NewPCG(3, 3)), 5, 4, 3)
	normalize := augment.Normalize{Mean: [3]float32{0.1, 0.2, 0.3}}
	set := writeRecords(t, Options{}, 1, func(int) [][]byte {
		return [][]byte{settest.Example(func(b *tfrecord.Builder) {
			b.Bytes(DefaultImageKey, augment.AppendFloat32(nil, im, normalize))
			b.String("image/format", "float32")
			b.Int64("image/height", 4)
			b.Int64("image/width", 5)
			b.Int64("image/channels", 3)
		})}
	})
	for i := range 6 {
		spec := ImageSpec{Resize: augment.ResizeSpec{Width: 5, Height: 4, NoAntialias: true}, DType: []DType{Float32, Float16, BFloat16}[i/2], NCHW: i%2 == 1, NoLabels: true, Normalize: normalize}
		for b, err := range Images(set.Records(), spec).All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			checkImage(t, b, 0, im, spec)
		}
	}
	for name, spec := range map[string]ImageSpec{
		"other size": {Size: 5, DType: Float32, NoLabels: true},
		"as uint8":   {Resize: augment.ResizeSpec{Width: 5, Height: 4, NoAntialias: true}, NoLabels: true},
	} {
		for _, err := range Images(set.Records(), spec).All(context.Background()) {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
	}
}

func TestImagesResumeTheirDraws(t *testing.T) {
	policy, err := augment.ParsePolicy("hflip | rotate:20")
	if err != nil {
		t.Fatal(err)
	}
	p := imageSet(t, 4, nil).Interleave(2, 1).Repeat(2)
	spec := ImageSpec{Size: 8, Batch: 3, Policy: policy, NoLabels: true}
	text := func(b *ImageBatch) string { return fmt.Sprintf("%x", b.Bytes) }
	checkResume(t, Images(p, spec), text)
	all := drain(t, Map(p, func(r Record) (int32, error) { return r.Epoch, nil }, MapOptions{}))
	if !slices.Contains(all, 1) {
		t.Fatal("one epoch")
	}
	spec.Batch = 8
	var epochs []string
	for b, err := range Images(p, spec).All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		epochs = append(epochs, text(b))
	}
	if len(epochs) != 2 || epochs[0] == epochs[1] {
		t.Errorf("%d epochs, drawn alike", len(epochs))
	}
}

// What a policy draws for an image depends on the seed, the epoch, and the name of the file and the
// number of the record, and on nothing else.
func TestImagesDrawByRecord(t *testing.T) {
	policy, err := augment.ParsePolicy("random_resized_crop:16|hflip|brightness:0.4")
	if err != nil {
		t.Fatal(err)
	}
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := imageSet(t, 5, nil)
	resize := augment.ResizeSpec{Width: 9, Height: 8, NoAntialias: true}
	for _, seed := range []uint64{1, 2} {
		set.files.Opts.Seed = seed
		p := set.Interleave(2, 1).Shuffle(4).Repeat(2)
		var want []byte
		for r, err := range p.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			var e tfrecord.Example
			if err := e.Parse(r.Data); err != nil {
				t.Fatal(err)
			}
			f, _ := e.Get(DefaultImageKey)
			data, _ := f.Bytes()
			var im, drawn, small augment.Image
			if _, err := codec.Decode(&im, data, augment.DecodeOptions{Channels: 3}); err != nil {
				t.Fatal(err)
			}
			draw := policy.Draw(seed, fmt.Sprintf("%02d.tfrecord#%d", r.File, r.Number), int(r.Epoch), im.Width, im.Height)
			if err := draw.Apply(&drawn, &im, nil); err != nil {
				t.Fatal(err)
			}
			if err := resize.Apply(&small, &drawn, nil); err != nil {
				t.Fatal(err)
			}
			want = append(want, small.Pix...)
		}
		for _, batch := range []int{1, 7} {
			var got []byte
			for b, err := range Images(p, ImageSpec{Resize: resize, Batch: batch, Policy: policy}).All(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, b.Bytes...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("seed %d, batches of %d: other pixels than those drawn by hand", seed, batch)
			}
		}
	}
}

// A label that is no class is an error of its record.
func TestImagesOfOtherClasses(t *testing.T) {
	set := imageSet(t, 6, nil) // labels 0 to 5 and 100 to 105
	spec := ImageSpec{Size: 8, Batch: 4, Classes: 105, Mix: augment.Mix{CutMix: 1}}
	var err error
	for _, err = range Images(set.Records(), spec).All(t.Context()) {
	}
	var located *tfrecord.Error
	if !errors.As(err, &located) || located.Record != 5 || !strings.Contains(err.Error(), "label 105: want 0 to 104") {
		t.Error(err)
	}
	set.files.Opts.SkipBad.Count = 1
	rows := 0
	for b, err := range Images(set.Records(), spec).All(t.Context()) {
		if err != nil || len(b.SoftLabels) != 105*b.Shape[0] {
			t.Fatal(err, len(b.SoftLabels))
		}
		rows += b.Shape[0]
	}
	if rows != 11 {
		t.Errorf("%d images", rows)
	}
}

func TestImagesSayWhichIsBad(t *testing.T) {
	set := imageSet(t, 6, func(i int, data []byte) []byte {
		if i == 4 {
			return data[:len(data)/2]
		}
		return data
	})
	var err error
	for _, err = range Images(set.Records(), ImageSpec{Size: 8, Batch: 3, Workers: 2}).All(context.Background()) {
	}
	var located *tfrecord.Error
	if !errors.As(err, &located) || located.Record != 4 || located.Name != set.Sources()[0].Path || !errors.Is(err, augment.ErrDamaged) {
		t.Error(err)
	}
	for _, err = range Images(set.Records(), ImageSpec{Size: 8, LabelKey: "other"}).All(context.Background()) {
	}
	if !errors.As(err, &located) || located.Record != 0 {
		t.Error(err)
	}
}

// Each mistake with classes and columns has a message of its own.
func TestImageSpecErrors(t *testing.T) {
	set := writeRecords(t, Options{}, 1, func(int) [][]byte { return nil })
	for want, spec := range map[string]ImageSpec{
		"-3 classes: want their number":                  {Size: 8, Classes: -3},
		"set Classes or NoLabels":                        {Size: 8, Classes: 3, NoLabels: true},
		"1073741824 classes in a batch of 16: want 4294": {Size: 8, Classes: 1 << 30, Batch: 16},
		"Columns without a field: name the features":     {Size: 8, Columns: columns.Schema{}},
	} {
		if _, err := Images(set.Records(), spec).Start(t.Context(), From{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestImageSpecsRefused(t *testing.T) {
	mixes, err := augment.ParsePolicy("hflip|mixup")
	if err != nil {
		t.Fatal(err)
	}
	p := imageSet(t, 1, nil).Records()
	for name, spec := range map[string]ImageSpec{
		"no size":    {},
		"two sizes":  {Size: 8, Resize: augment.ResizeSpec{Square: 9, NoAntialias: true}},
		"channels":   {Size: 8, Channels: 4},
		"dtype":      {Size: 8, DType: 9},
		"fit":        {Resize: augment.ResizeSpec{Width: 8, Height: 8, Fit: augment.Shorter, NoAntialias: true}},
		"no upscale": {Resize: augment.ResizeSpec{Square: 8, NoUpscale: true, NoAntialias: true}},
		"negative":   {Size: -8},
		"workers":    {Size: 8, Workers: -1},
		"batch":      {Size: 8, Batch: -1},
		"too large":  {Size: 60000, Batch: 1000},
		"mix":        {Size: 8, Mix: augment.Mix{MixUp: -1}},
		"mixes":      {Size: 8, Policy: mixes},
		"mask, mix":  {Size: 8, Mix: augment.Mix{CutMix: 1}, MaskKey: "mask"},
		"no name":    {Size: 8, OtherImageKeys: []string{"left", ""}},
		"many":       {Size: 4096, Batch: 64, OtherImageKeys: []string{"a", "b"}},
		"classes":    {Size: 8, Classes: -1},
		"no labels":  {Size: 8, Classes: 3, NoLabels: true},
		"one-hots":   {Size: 8, Classes: 1 << 30, Batch: 16},
		"normalize":  {Size: 8, Normalize: augment.Normalize{Std: [3]float32{-1}}},
	} {
		if _, err := Images(p, spec).Start(context.Background(), From{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if diff := cmp.Diff([]string{"uint8", "float32", "float16", "bfloat16", "DType(7)"}, []string{Uint8.String(), Float32.String(), Float16.String(), BFloat16.String(), DType(7).String()}); diff != "" {
		t.Error(diff)
	}
}
