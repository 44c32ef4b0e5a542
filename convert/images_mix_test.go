package convert

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// oddImages makes a source of n images of odd sizes in three classes: RGB, gray, with alpha, turned
// by EXIF, and of one pixel.
func oddImages(t *testing.T, n int) string {
	t.Helper()
	src := filepath.Join(t.TempDir(), "odd")
	r := rand.New(rand.NewPCG(4, 4))
	for i := range n {
		w, h := 8+r.IntN(20), 8+r.IntN(20)
		var data []byte
		switch i % 5 {
		case 0:
			im := image.NewGray(image.Rect(0, 0, w, h))
			for k := range im.Pix {
				im.Pix[k] = uint8(r.IntN(256))
			}
			data = testpng.Encode(im)
		case 1:
			im := image.NewNRGBA(image.Rect(0, 0, w, h))
			for k := range im.Pix {
				im.Pix[k] = uint8(r.IntN(256))
			}
			data = testpng.Encode(im)
		case 2:
			d := drawDrawing(r, i)
			data = d.file()
		case 3:
			data = testpng.Encode(image.NewGray(image.Rect(0, 0, 1, 1)))
		default:
			data = pngOf(i)
		}
		put(t, src, fmt.Sprintf("c%d/%03d.png", i%3, i), data)
	}
	return src
}

// drawOf returns the draw in a record.
func drawOf(t *testing.T, e map[string]any) augment.Draw {
	t.Helper()
	var d augment.Draw
	if err := json.Unmarshal(e[imagekey.Ops].([][]byte)[0], &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMixtures makes each variant again from what its record says was done, and compares pixels,
// labels and weights, for any number of workers, as an array job, and from an archive.
func TestMixtures(t *testing.T) {
	src := oddImages(t, 30)
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	decode := func(name string, channels int) *augment.Image {
		data, err := os.ReadFile(filepath.Join(src, filepath.FromSlash(name)))
		im := new(augment.Image)
		if err == nil {
			_, err = codec.Decode(im, data, augment.DecodeOptions{Channels: channels})
		}
		if err != nil {
			t.Fatal(err)
		}
		return im
	}
	archive := filepath.Join(t.TempDir(), "odd.zip")
	files := map[string]string{}
	for i := range 30 {
		name := fmt.Sprintf("c%d/%03d.png", i%3, i)
		data, err := os.ReadFile(filepath.Join(src, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	packFiles(t, archive, 1, files)
	splits, _ := ParseSplits("train=0.8,val=0.2")
	for _, spec := range []string{"mixup:0.4,p=0.7", "hflip|cutmix|invert", "random_crop:9|mosaic:20"} {
		t.Run(spec, func(t *testing.T) {
			o := ImageOptions{
				Options: Options{Name: "n", Shards: 3, Seed: 3, Splits: splits, Workers: 1}, Encode: EncodeSpec{Format: PNG},
				Augment: AugmentSpec{Policy: policy(t, spec), Copies: 2, KeepOriginal: true},
			}
			out, other, tasks, packed := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
			mustImages(t, src, out, o)
			o.Workers, o.Memory = 3, 1
			mustImages(t, src, other, o)
			sameSet(t, contents(t, other), contents(t, out))
			mustImages(t, archive, packed, o)
			sameSet(t, contents(t, packed), contents(t, out))
			for i := range 2 {
				mustImages(t, src, tasks, taskOf(o, 1-i, 2))
			}
			mustFinalize(t, tasks)
			sameSet(t, contents(t, tasks), contents(t, out))
			train, val := examples(t, out, "train"), examples(t, out, "val")
			own, mixed := map[string]bool{}, 0
			for _, e := range train {
				own[string(e[imagekey.Filename].([][]byte)[0])] = true
			}
			for _, e := range slices.Concat(train, val) {
				name := string(e[imagekey.Filename].([][]byte)[0])
				draw := drawOf(t, e)
				mixture := sample.MixtureOf(draw)
				labels, weights := []int64{int64(name[1] - '0')}, []float64{1}
				channels := 0
				if mixture != nil {
					mixed++
					weights[0] = mixture.Lambda
					channels = decode(name, 0).Channels
					for _, p := range mixture.Partners {
						channels = max(channels, decode(p.Key, 0).Channels)
					}
					for k := range mixture.Partners {
						p := &mixture.Partners[k]
						if p.Key == name || !own[p.Key] {
							t.Errorf("%s has the partner %s", name, p.Key)
						}
						labels, weights = append(labels, int64(p.Key[1]-'0')), append(weights, p.Weight)
						p.Image = new(augment.Image)
						if err := p.Draw.Apply(p.Image, decode(p.Key, channels), nil); err != nil {
							t.Fatal(err)
						}
					}
				}
				var want, got augment.Image
				if err := draw.Apply(&want, decode(name, channels), nil); err != nil {
					t.Fatal(err)
				}
				if _, err := codec.Decode(&got, e[imagekey.Encoded].([][]byte)[0], augment.DecodeOptions{}); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Pix, want.Pix) || got.Width != want.Width || got.Channels != want.Channels {
					t.Errorf("%s: %s: other pixels", name, e[imagekey.Ops])
				}
				sum := 0.0
				stored := e[imagekey.MixWeight].([]float32)
				for i, w := range stored {
					sum += float64(w)
					if math.Abs(float64(w)-weights[i]) > 1e-6 {
						t.Errorf("%s: weights %v, want %v", name, stored, weights)
					}
				}
				if !slices.Equal(e[imagekey.MixLabel].([]int64), labels) || math.Abs(sum-1) > 1e-6 || e[imagekey.Label].([]int64)[0] != labels[0] {
					t.Errorf("%s: labels %v and weights %v, want %v", name, e[imagekey.MixLabel], stored, labels)
				}
			}
			if mixed < len(own) || mixed > 2*len(own) {
				t.Errorf("%d mixtures of %d images", mixed, len(own))
			}
			m, err := manifest.Read(context.Background(), filepath.Join(out, manifest.File))
			if err != nil || !slices.ContainsFunc(m.Features, func(f manifest.Feature) bool { return f.Key == imagekey.MixLabel && slices.Equal(f.Shape, []int{-1}) }) {
				t.Errorf("%v: %+v", err, m.Features)
			}
		})
	}
}

// TestMixtureUpdates changes, adds and removes an image: the update is what a fresh run makes, and
// redoes no more than the shards with samples that the image is in.
func TestMixtureUpdates(t *testing.T) {
	src, out := directories(t, 240), t.TempDir()
	o := ImageOptions{
		Options: Options{Shards: 12, Seed: 1}, Encode: EncodeSpec{Format: Raw},
		Augment: AugmentSpec{Policy: policy(t, "mixup"), Copies: 2},
	}
	mustImages(t, src, out, o)
	if s := mustImages(t, src, out, o); s.ShardsWritten != 0 {
		t.Errorf("%d shards written again", s.ShardsWritten)
	}
	uses := func(name string) (n int) {
		for i := range 12 {
			file := shard.Name{Dataset: "pets", Split: "train", Index: i, Count: 12}.String()
			only := t.TempDir()
			data, err := os.ReadFile(filepath.Join(out, file))
			if err != nil {
				t.Fatal(err)
			}
			put(t, only, file, data)
			if slices.ContainsFunc(examples(t, only, "train"), func(e map[string]any) bool {
				return string(e[imagekey.Filename].([][]byte)[0]) == name || sample.MixtureOf(drawOf(t, e)).Partners[0].Key == name
			}) {
				n++
			}
		}
		return n
	}
	fresh := func() {
		t.Helper()
		other := t.TempDir()
		mustImages(t, src, other, o)
		sameSet(t, contents(t, out), contents(t, other))
	}
	put(t, src, "c0/030.png", pngOf(1030))
	later := old.Add(time.Hour)
	if err := os.Chtimes(filepath.Join(src, "c0/030.png"), later, later); err != nil {
		t.Fatal(err)
	}
	want := uses("c0/030.png")
	if s := mustImages(t, src, out, o); s.ShardsWritten != want || want > 9 {
		t.Errorf("%d shards written for a changed image, %d have it", s.ShardsWritten, want)
	}
	fresh()
	want = uses("c1/031.png")
	if err := os.Remove(filepath.Join(src, "c1/031.png")); err != nil {
		t.Fatal(err)
	}
	if s := mustImages(t, src, out, o); s.ShardsWritten > want {
		t.Errorf("%d shards written for a removed image, %d had it", s.ShardsWritten, want)
	}
	fresh()
	put(t, src, "c1/900.png", pngOf(900))
	if s := mustImages(t, src, out, o); s.ShardsWritten != uses("c1/900.png") {
		t.Errorf("%d shards written for a new image, %d have it", s.ShardsWritten, uses("c1/900.png"))
	}
	fresh()
}

// TestUnreadablePartners: what a damaged image is mixed into is in the ledger, and is made again
// when the image is repaired.
func TestUnreadablePartners(t *testing.T) {
	src, out := directories(t, 12), t.TempDir()
	put(t, src, "c0/003.png", []byte("no image"))
	o := ImageOptions{
		Options: Options{Shards: 4, MaxErrors: Tolerance{Count: 24}}, Encode: EncodeSpec{Format: PNG},
		Augment: AugmentSpec{Policy: policy(t, "mosaic:16"), Copies: 2},
	}
	s := mustImages(t, src, out, o)
	ledger, err := os.ReadFile(filepath.Join(out, manifest.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Count(string(ledger), "partner c0/003.png: ")
	if s.Records+s.Errors != 24 || s.Errors != int64(2+lines) || lines == 0 {
		t.Errorf("%+v, %d partners in the ledger:\n%s", s, lines, ledger)
	}
	for _, e := range examples(t, out, "train") {
		for _, p := range sample.MixtureOf(drawOf(t, e)).Partners {
			if p.Key == "c0/003.png" {
				t.Error("a damaged partner was used")
			}
		}
	}
	if s := mustImages(t, src, out, o); s.ShardsWritten != 0 {
		t.Errorf("%d shards written again", s.ShardsWritten)
	}
	put(t, src, "c0/003.png", pngOf(3))
	if s := mustImages(t, src, out, o); s.Errors != 0 || s.Records != 24 {
		t.Errorf("after the repair: %+v", s)
	}
}

// TestLeftOutWithUnreadablePartners: an image that an option leaves out is no fault, whether its
// partner can be read or not.
func TestLeftOutWithUnreadablePartners(t *testing.T) {
	src := t.TempDir()
	for i := range 10 {
		put(t, src, fmt.Sprintf("small%d.png", i), grayOf(64, 64, uint8(i)))
	}
	put(t, src, "damaged.png", []byte("no image"))
	put(t, src, "large.png", grayOf(128, 128, 2))
	out := t.TempDir()
	s := mustImages(t, src, out, ImageOptions{
		Options: Options{MaxErrors: Tolerance{Count: 24}}, Select: SelectSpec{MinSize: 100}, Labels: LabelSpec{None: true},
		Encode: EncodeSpec{Format: PNG}, Augment: AugmentSpec{Policy: policy(t, "mosaic:16"), Copies: 2},
	})
	if ledger := contents(t, out)["errors.jsonl"]; s.Filtered != 20 || s.Records+s.Errors != 4 || strings.Contains(ledger, `"source":"small`) {
		t.Errorf("%+v\n%s", s, ledger)
	}
}

// TestFaultsBesideUnreadablePartners: an annotation that cannot be used is in the ledger, whether the
// partner of its image can be read or not.
func TestFaultsBesideUnreadablePartners(t *testing.T) {
	src := t.TempDir()
	put(t, src, "a.png", grayOf(64, 64, 1))
	put(t, src, "b.png", grayOf(64, 64, 2))
	put(t, src, "c.json", []byte(`{"images":[{"id":1,"file_name":"a.png","width":64,"height":64},{"id":2,"file_name":"b.png","width":64,"height":64}],
"categories":[{"id":1,"name":"x"}],"annotations":[{"id":7,"image_id":1,"category_id":1,"bbox":[200,200,9,9]},{"id":8,"image_id":2,"category_id":1,"bbox":[3,3,9,9]}]}`))
	for _, damaged := range []string{"", "no image", string(grayOf(64, 64, 2)[:60])} {
		if damaged != "" {
			put(t, src, "b.png", []byte(damaged))
		}
		o := with(filepath.Join(src, "c.json"), ImageOptions{
			Options: Options{MaxErrors: Tolerance{Count: 24}}, Encode: EncodeSpec{Format: PNG}, Augment: AugmentSpec{Policy: policy(t, "cutmix"), Copies: 2},
		})
		o.Select.Include = []string{"*.png"}
		out := t.TempDir()
		_, err := Images(context.Background(), src, out, o) // an error if no record is left
		data, _ := os.ReadFile(filepath.Join(out, manifest.LedgerFile))
		if strings.Count(string(data), "outside of the image") != 1 {
			t.Errorf("%q: %v\n%s", damaged, err, data)
		}
	}
}

// TestMixturesOfFewImages: an image alone is its own partner, and one of two is the other's.
func TestMixturesOfFewImages(t *testing.T) {
	for n, want := range map[int]map[string]string{
		1: {"c0/000.png": "c0/000.png"},
		2: {"c0/000.png": "c1/001.png", "c1/001.png": "c0/000.png"},
	} {
		out := t.TempDir()
		mustImages(t, directories(t, n), out, ImageOptions{Augment: AugmentSpec{Policy: policy(t, "mosaic:16"), Copies: 3}})
		for _, e := range examples(t, out, "train") {
			for _, p := range sample.MixtureOf(drawOf(t, e)).Partners {
				if name := string(e[imagekey.Filename].([][]byte)[0]); p.Key != want[name] {
					t.Errorf("of %d images %s has the partner %s", n, name, p.Key)
				}
			}
		}
	}
}

// TestMixedObjects: the box of each object is that of its mask, whose pixels are all of the object's
// colour but for its edges, and every object of image and partners is stored or counted.
func TestMixedObjects(t *testing.T) {
	src, file, drawings := drawingsIn(t, rand.New(rand.NewPCG(8, 23)), 20)
	count := map[string]int{}
	for _, d := range drawings {
		count[d.name] = len(d.rects)
	}
	for _, spec := range []string{"mixup", "cutmix", "hflip|mosaic:90|vflip"} {
		o := with(file, ImageOptions{Encode: EncodeSpec{Format: PNG}, Augment: AugmentSpec{Policy: policy(t, spec), Copies: 3}})
		o.Annotations.InstanceMasks = true
		out := t.TempDir()
		s := mustImages(t, src, out, o)
		stored, all := 0, 0
		for _, e := range examples(t, out, "train") {
			mixture := sample.MixtureOf(drawOf(t, e))
			all += count[string(e[imagekey.Filename].([][]byte)[0])]
			for _, p := range mixture.Partners {
				all += count[p.Key]
			}
			im := decodePNG(t, e[imagekey.Encoded].([][]byte)[0])
			w, h := float64(im.Bounds().Dx()), float64(im.Bounds().Dy())
			side := func(key string, i int) float64 { return float64(e[key].([]float32)[i]) }
			for i, label := range e[objects.KeyLabel].([]int64) {
				stored++
				mask := decodePNG(t, e[objects.KeyMask].([][]byte)[i])
				at, pixels := extent(mask, color.RGBA{1, 1, 1, 255})
				far := max(math.Abs(side(objects.KeyXMin, i)*w-float64(at.Min.X)), math.Abs(side(objects.KeyXMax, i)*w-float64(at.Max.X)),
					math.Abs(side(objects.KeyYMin, i)*h-float64(at.Min.Y)), math.Abs(side(objects.KeyYMax, i)*h-float64(at.Max.Y)))
				if far > 1.01 {
					t.Errorf("%s: %s: a box is %g pixels from its mask at %v", spec, e[imagekey.Ops], far, at)
				}
				if spec == "mixup" {
					continue
				}
				hue := hues[slices.Index(hueIDs, label)]
				for p := range pixels {
					inner := true
					for dy := -3; dy <= 3; dy++ {
						for dx := -3; dx <= 3; dx++ {
							inner = inner && pixels[p.Add(image.Pt(dx, dy))]
						}
					}
					if got := color.RGBAModel.Convert(im.At(p.X, p.Y)).(color.RGBA); inner && got != hue {
						t.Fatalf("%s: %s: the pixel %v of an object is %v, want %v", spec, e[imagekey.Ops], p, got, hue)
					}
				}
			}
		}
		if s.Annotations != int64(stored) || s.Annotations+s.Dropped != int64(all) || stored < all/4 {
			t.Errorf("%s: %d objects stored and %d dropped of %d", spec, s.Annotations, s.Dropped, all)
		}
	}
}

// TestMixedClassMasks mixes images of one colour, whose masks say which.
func TestMixedClassMasks(t *testing.T) {
	src, masks := t.TempDir(), t.TempDir()
	r := rand.New(rand.NewPCG(1, 9))
	for i := range 12 {
		im := image.NewGray(image.Rect(0, 0, 10+r.IntN(30), 10+r.IntN(30)))
		mask := image.NewGray(im.Rect)
		for k := range im.Pix {
			im.Pix[k], mask.Pix[k] = uint8(10*i), uint8(i)
		}
		put(t, src, fmt.Sprintf("%02d.png", i), testpng.Encode(im))
		put(t, masks, fmt.Sprintf("%02d.png", i), testpng.Encode(mask))
	}
	o := ImageOptions{Encode: EncodeSpec{Format: PNG}, Annotations: AnnotationSpec{Masks: masks}, Labels: LabelSpec{None: true}}
	for _, spec := range []string{"cutmix", "hflip|mosaic:40"} {
		o.Augment = AugmentSpec{Policy: policy(t, spec), Copies: 3}
		out := t.TempDir()
		mustImages(t, src, out, o)
		values := map[uint8]bool{}
		for _, e := range examples(t, out, "train") {
			im := decodePNG(t, e[imagekey.Encoded].([][]byte)[0])
			mask := decodePNG(t, e[objects.KeySegmentation].([][]byte)[0])
			if mask.Bounds() != im.Bounds() {
				t.Fatal(mask.Bounds(), im.Bounds())
			}
			for y := range im.Bounds().Dy() {
				for x := range im.Bounds().Dx() {
					class := mask.(*image.Gray).GrayAt(x, y).Y
					want := 10 * class
					if class == 255 {
						want = 114
					}
					if got := im.(*image.Gray).GrayAt(x, y).Y; got != want {
						t.Fatalf("%s: %s: class %d and level %d at %d,%d", spec, e[imagekey.Ops], class, got, x, y)
					}
					values[class] = true
				}
			}
		}
		if len(values) < 12 {
			t.Errorf("%s: classes %v", spec, values)
		}
	}
	o.Augment = AugmentSpec{Policy: policy(t, "mixup")}
	if _, err := Images(context.Background(), src, t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "use cutmix or mosaic") {
		t.Error(err)
	}
}
