package reader

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/tfrecord"
)

// imageTrial is a set of images and a way to read it in batches, drawn from a seed.
type imageTrial struct {
	records []imageRecord // of the only file
	repeat  int
	spec    ImageSpec
}

// imageRecord is a record of an imageTrial.
type imageRecord struct {
	image   []byte
	damaged bool // the image is
	misfit  bool // its target is
	others  [][]byte
	mask    []byte
	badMask bool // it has another size than the image
	label   int64
	boxes   []float32
	tags    []int64
	target  []float32
	name    string
}

// trialImages are images of all kinds: photographs, also gray and CMYK ones.
func trialImages(t *testing.T) (all [][]byte) {
	for _, pattern := range []string{"demo/photos/*/*7_*.jpg", "pictures/*gray*", "pictures/*cmyk*", "pictures/*orientation_6*", "pictures/*.lossy.webp",
		"../../shared/data/odd/*gray*.jpg", "../../shared/data/odd/*cmyk*.jpg", "../../shared/data/photos/*/1*9_n.jpg"} {
		files, err := filepath.Glob(filepath.Join("../testdata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files[:min(5, len(files))] {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data)
		}
	}
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var im augment.Image
	all = slices.DeleteFunc(all, func(data []byte) bool {
		_, err := codec.Decode(&im, data, augment.DecodeOptions{})
		return err != nil
	})
	if len(all) < 10 {
		t.Fatalf("only %d images", len(all))
	}
	return all
}

func drawImageTrial(t *testing.T, seed uint64, images [][]byte) *imageTrial {
	r := rand.New(rand.NewPCG(seed, 21))
	const classes = 5
	x := &imageTrial{repeat: 1 + r.IntN(2)}
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if x.spec.OtherImageKeys = []string{"left", "right"}[:r.IntN(3)]; r.IntN(3) == 0 {
		x.spec.MaskKey, x.spec.MaskFill = "mask", 255
	}
	bad := []float64{0, 0.1, 0.5}[r.IntN(3)]
	for i := range 1 + r.IntN(25) {
		e := imageRecord{label: r.Int64N(classes), target: []float32{float32(i), r.Float32()}, name: fmt.Sprint("no ", i)}
		if e.image = images[r.IntN(len(images))]; r.IntN(3) > 0 {
			if e.image, err = augment.AppendPNG(nil, randomImage(r, 1+r.IntN(30), 1+r.IntN(30), 1+2*r.IntN(2))); err != nil {
				t.Fatal(err)
			}
		}
		for range x.spec.OtherImageKeys {
			e.others = append(e.others, images[r.IntN(len(images))])
		}
		if x.spec.MaskKey != "" {
			info, err := codec.Stat(e.image)
			if err != nil {
				t.Fatal(err)
			}
			w, h := info.Width, info.Height
			if e.badMask = r.Float64() < bad; e.badMask {
				w++
			}
			if e.mask, err = augment.AppendPNG(nil, randomImage(r, w, h, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if r.Float64() < bad {
			e.damaged, e.image = true, e.image[:len(e.image)/3]
		}
		if r.Float64() < bad {
			e.misfit, e.target = true, e.target[:1]
		}
		for range r.IntN(4) {
			e.tags = append(e.tags, r.Int64N(1000))
			e.boxes = append(e.boxes, r.Float32(), r.Float32(), r.Float32(), r.Float32())
		}
		x.records = append(x.records, e)
	}
	s := &x.spec
	s.Resize = augment.ResizeSpec{Width: 1 + r.IntN(20), Height: 1 + r.IntN(20), NoAntialias: !(r.IntN(2) == 0)}
	s.Channels, s.DType, s.NCHW = 1+2*r.IntN(2), DType(r.IntN(4)), r.IntN(2) == 0
	s.Batch, s.DropRemainder, s.Workers = 1+r.IntN(9), r.IntN(4) == 0, r.IntN(4)
	if r.IntN(3) > 0 {
		s.Normalize = augment.Normalize{Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}}
	}
	if r.IntN(2) == 0 {
		text := []string{"hflip|brightness:0.3", "random_resized_crop:31|vflip", "rotate:40|random_crop:20,padding=15"}[r.IntN(3)]
		if s.Policy, err = augment.ParsePolicy(text); err != nil {
			t.Fatal(err)
		}
	}
	if s.MaskKey == "" {
		s.Mix = augment.Mix{MixUp: []float64{0, 0.4, 1}[r.IntN(3)], CutMix: []float64{0, 1}[r.IntN(2)]}
	}
	s.Classes = []int{0, classes}[r.IntN(2)]
	if s.Columns = detectionSchema; r.IntN(4) == 0 {
		s.Columns = nil
	}
	return x
}

// set writes the set.
func (x *imageTrial) set(t *testing.T) *Set {
	return writeRecords(t, Options{Seed: 77, SkipBad: SkipBad{Share: 1}}, 1, func(int) (all [][]byte) {
		for _, e := range x.records {
			all = append(all, settest.Example(func(b *tfrecord.Builder) {
				b.Bytes(DefaultImageKey, e.image)
				for i, data := range e.others {
					b.Bytes(x.spec.OtherImageKeys[i], data)
				}
				b.Bytes("mask", e.mask)
				b.Int64(DefaultLabelKey, e.label)
				b.Float("boxes", e.boxes...)
				b.Int64("tags", e.tags...)
				b.Float("target", e.target...)
				b.String("name", e.name)
			}))
		}
		return all
	})
}

// kept reports whether a record is not left out.
func (x *imageTrial) kept(e *imageRecord) bool {
	return !e.damaged && !(e.misfit && x.spec.Columns != nil) && !(e.badMask && x.spec.MaskKey != "")
}

// expect returns the batches, from images that were read one at a time as bytes.
func (x *imageTrial) expect(t *testing.T, p Pipe) (batches []*ImageBatch) {
	t.Helper()
	total := len(x.records) * x.repeat
	pixels := make([][][]byte, total) // of each image of each record; nil: damaged
	for k := range 1 + len(x.spec.OtherImageKeys) {
		plain := ImageSpec{Resize: x.spec.Resize, Channels: x.spec.Channels, Policy: x.spec.Policy}
		if k > 0 {
			plain.ImageKey = x.spec.OtherImageKeys[k-1]
		}
		read := drain(t, Map(Images(p, plain), func(b *ImageBatch) (*ImageBatch, error) { return b.Clone(), nil }, MapOptions{}))
		for i := range pixels {
			if k == 0 && x.records[i%len(x.records)].damaged {
				pixels[i] = append(pixels[i], nil)
				continue
			}
			pixels[i] = append(pixels[i], read[0].Bytes)
			read = read[1:]
		}
		if len(read) > 0 {
			t.Fatalf("%d images too many", len(read))
		}
	}
	for from := 0; from < total; from += x.spec.Batch {
		to := min(from+x.spec.Batch, total)
		b := &ImageBatch{Epoch: int32(from / len(x.records)), Mix: augment.MixDraw{Lambda: 1}}
		var kept []*imageRecord
		var images [][][]byte
		for i := from; i < to; i++ {
			if e := &x.records[i%len(x.records)]; x.kept(e) {
				kept, images = append(kept, e), append(images, pixels[i])
				if x.spec.MaskKey != "" {
					b.Masks = append(b.Masks, x.mask(t, e, i)...)
				}
			}
		}
		if len(kept) == 0 || to-from < x.spec.Batch && x.spec.DropRemainder {
			continue
		}
		if x.spec.Mix != (augment.Mix{}) {
			key := fmt.Sprintf("00.tfrecord#%d", from%len(x.records))
			b.Mix = x.spec.Mix.Draw(77, key, int(b.Epoch), x.spec.Resize.Width, x.spec.Resize.Height)
		}
		x.fill(b, kept, images)
		batches = append(batches, b)
	}
	return batches
}

// mask returns the samples of the mask of record i of all epochs.
func (x *imageTrial) mask(t *testing.T, e *imageRecord, i int) []byte {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var stored, drawn, small augment.Image
	if _, err := codec.Decode(&stored, e.mask, augment.DecodeOptions{}); err != nil {
		t.Fatal(err)
	}
	info, err := codec.Stat(e.image)
	if err != nil {
		t.Fatal(err)
	}
	mask := uprightMask(&stored, info.Orientation)
	var draw augment.Draw
	if x.spec.Policy != nil {
		draw = x.spec.Policy.Draw(77, fmt.Sprintf("00.tfrecord#%d", i%len(x.records)), i/len(x.records), mask.Width, mask.Height)
	}
	if err := draw.Mask(255).Apply(&drawn, mask, nil); err != nil {
		t.Fatal(err)
	}
	resize := augment.ResizeSpec{Width: x.spec.Resize.Width, Height: x.spec.Resize.Height, Filter: augment.Nearest, NoAntialias: true}
	if err := resize.Apply(&small, &drawn, nil); err != nil {
		t.Fatal(err)
	}
	return small.Pix
}

// fill fills a batch sample by sample. Images that are nil are padding.
func (x *imageTrial) fill(b *ImageBatch, kept []*imageRecord, images [][][]byte) {
	s := &x.spec
	n, views, w, h, c := len(kept), len(images[0]), s.Resize.Width, s.Resize.Height, s.Channels
	b.DType, b.Shape = s.DType, []int{n}
	if views > 1 {
		b.Shape = append(b.Shape, views)
	}
	if s.NCHW {
		b.Shape = append(b.Shape, c, h, w)
	} else {
		b.Shape = append(b.Shape, h, w, c)
	}
	// value is a sample as a number of the batch's type.
	value := func(i, view, y, x, channel int) float64 {
		if images[i][view] == nil {
			return 0
		}
		sample := images[i][view][(y*w+x)*c+channel]
		if s.DType == Uint8 {
			return float64(sample)
		}
		v := s.Normalize.Of(sample, channel)
		for _, f := range halfFormats {
			if f.name == s.DType.String() {
				return f.define(f.nearest(float64(v)))
			}
		}
		return float64(v)
	}
	for at := range n * views * h * w * c {
		image, y, x, channel := at/c/w/h, at/c/w%h, at/c%w, at%c
		if s.NCHW {
			channel, y, x = at/w/h%c, at/w%h, at%w
		}
		i, view := image/views, image%views
		own, other := value(i, view, y, x, channel), value((i+n-1)%n, view, y, x, channel)
		v := own
		if box := b.Mix.Box; x >= box.Min.X && x < box.Max.X && y >= box.Min.Y && y < box.Max.Y {
			v = other
		} else if box.Empty() && b.Mix.Lambda != 1 {
			// Products and sums of float32 are rounded once from float64.
			v = float64(float32(float64(float32(b.Mix.Lambda)) * own))
			v = float64(float32(v + float64(float32(float64(float32(1-b.Mix.Lambda))*other))))
		}
		switch s.DType {
		case Uint8:
			b.Bytes = append(b.Bytes, uint8(math.RoundToEven(v)))
		case Float32:
			b.Pixels = append(b.Pixels, float32(v))
		default:
			b.Halves = append(b.Halves, halfFormats[s.DType-Float16].nearest(v))
		}
	}
	for i, e := range kept {
		b.Labels = append(b.Labels, e.label)
		for class := range int64(s.Classes) {
			share := float32(0)
			if class == e.label {
				share = float32(b.Mix.Lambda)
			}
			if class == kept[(i+n-1)%n].label {
				share += float32(1 - b.Mix.Lambda)
			}
			b.SoftLabels = append(b.SoftLabels, share)
		}
	}
	if s.Columns == nil {
		return
	}
	records := make([][]byte, n)
	for i, e := range kept {
		records[i] = settest.Example(func(b *tfrecord.Builder) {
			b.Float("boxes", e.boxes...)
			b.Int64("tags", e.tags...)
			b.Float("target", e.target...)
			b.String("name", e.name)
		})
	}
	parser, _ := columns.NewParser(s.Columns)
	if err := parser.Parse(&b.Columns, records); err != nil {
		panic(err)
	}
}

// Batches of images are as the plainest code makes them, whatever the spec, and so are those that
// follow a state.
func TestRandomImages(t *testing.T) {
	images := trialImages(t)
	counts := map[string]int{}
	for _, seed := range torture.Seeds(60, 400) {
		x := drawImageTrial(t, seed, images)
		r := rand.New(rand.NewPCG(seed, 22))
		p := x.set(t).Records().Repeat(x.repeat)
		want := x.expect(t, p)
		checkFreed := drawBackend(r, &x.spec)
		checkBatches(t, Images(p, x.spec), want, r.IntN(len(want)+1), fmt.Sprintf("seed %d, %+v", seed, x.spec))
		checkFreed(t)
		for _, b := range want {
			switch {
			case len(b.Masks) > 0:
				counts["masks"]++
			case !b.Mix.Box.Empty():
				counts["CutMix "+b.DType.String()]++
			case b.Mix.Lambda != 1:
				counts["MixUp "+b.DType.String()]++
			}
		}
	}
	if !testing.Short() && (len(counts) != 9 || slices.Min(slices.Collect(maps.Values(counts))) < 5) {
		t.Errorf("too few batches of a kind: %v", counts)
	}
}

// checkBatches compares the batches of a flow, resumed after some of them, with others.
func checkBatches(t *testing.T, f Flow[*ImageBatch], want []*ImageBatch, stop int, trial string) {
	t.Helper()
	read := func(s *Stream[*ImageBatch], most int) (batches []*ImageBatch) {
		for b, err := range s.All() {
			if err != nil {
				t.Fatalf("%s: %v", trial, err)
			}
			if batches = append(batches, b.Clone()); len(batches) == most {
				break
			}
		}
		return batches
	}
	s, err := f.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	got := []*ImageBatch{}
	if stop > 0 {
		got = read(s, stop)
	}
	state := through(t, s.State())
	s.Close()
	if s, err = f.Start(t.Context(), From{State: &state}); err != nil {
		t.Fatal(err)
	}
	got = append(got, read(s, -1)...)
	s.Close()
	equal := cmp.Options{cmpopts.IgnoreUnexported(ImageBatch{}, columns.Column{}), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(want, got, equal); diff != "" {
		t.Fatalf("%s, stopped after %d: (-want +got)\n%.3000s", trial, stop, diff)
	}
}
