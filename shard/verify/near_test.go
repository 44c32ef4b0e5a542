package verify

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// TestNearSearchFindsAllThereAre compares the search with a comparison of all pairs, for hashes of
// which many are similar.
func TestNearSearchFindsAllThereAre(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var hashes [][4]uint64
	for range 60 {
		h := [4]uint64{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()}
		for range 12 {
			hashes = append(hashes, h)
			for range rng.IntN(12) {
				bit := rng.IntN(256)
				h[bit/64] ^= 1 << (bit % 64)
			}
		}
	}
	rng.Shuffle(len(hashes), func(i, j int) { hashes[i], hashes[j] = hashes[j], hashes[i] })
	for _, limit := range []int{1, 15, 16, 31, 32, MaxNearDistance} {
		var want, got []string
		for i := range hashes {
			for j := range i {
				if d := distance(&hashes[i], &hashes[j]); d <= limit {
					want = append(want, fmt.Sprint(i, j, d))
				}
			}
		}
		var mu sync.Mutex
		s := &nearSearch{hashes: hashes, distance: limit, workers: 3}
		settest.Check(t, s.each(context.Background(), func(i, j, d int) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprint(i, j, d))
		}, func(i int) { t.Errorf("%d was cut", i) }))
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) || len(want) == 0 {
			t.Errorf("distance %d: %d of %d pairs, or some twice", limit, len(got), len(want))
		}
	}
}

// photographs returns the real images of the demo.
func photographs(t testing.TB) map[string]image.Image {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/demo/photos/*/*.jpg")
	settest.Check(t, err)
	all := map[string]image.Image{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		settest.Check(t, err)
		im, err := jpeg.Decode(bytes.NewReader(data))
		settest.Check(t, err)
		all[filepath.Base(path)] = im
	}
	if len(all) < 30 {
		t.Fatalf("%d photographs", len(all))
	}
	return all
}

// waves returns a synthetic image of random coloured waves, different for each seed.
func waves(seed uint64) image.Image {
	rng := rand.New(rand.NewPCG(seed, 5))
	im := image.NewRGBA(image.Rect(0, 0, 160, 120))
	for range 40 {
		r := image.Rect(rng.IntN(160), rng.IntN(120), rng.IntN(160), rng.IntN(120)).Canon()
		c := color.RGBA{uint8(rng.IntN(256)), uint8(rng.IntN(256)), uint8(rng.IntN(256)), 255}
		draw.Draw(im, r, image.NewUniform(c), image.Point{}, draw.Src)
	}
	return im
}

// resized resizes by averaging or repeating pixels.
func resized(im image.Image, w, h int) image.Image {
	r := im.Bounds()
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0 := y * r.Dy() / h
		for x := range w {
			x0 := x * r.Dx() / w
			var sum [3]uint32
			var n uint32
			for j := y0; j < max((y+1)*r.Dy()/h, y0+1); j++ {
				for i := x0; i < max((x+1)*r.Dx()/w, x0+1); i++ {
					red, green, blue, _ := im.At(r.Min.X+i, r.Min.Y+j).RGBA()
					sum[0], sum[1], sum[2], n = sum[0]+red>>8, sum[1]+green>>8, sum[2]+blue>>8, n+1
				}
			}
			to.SetRGBA(x, y, color.RGBA{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n), 255})
		}
	}
	return to
}

// brighter scales all samples to a percentage.
func brighter(im image.Image, percent int) image.Image {
	r := im.Bounds()
	to := image.NewRGBA(r)
	draw.Draw(to, r, im, r.Min, draw.Src)
	for i := range to.Pix {
		if i%4 != 3 {
			to.Pix[i] = uint8(min(int(to.Pix[i])*percent/100, 255))
		}
	}
	return to
}

func encodedAgain(t testing.TB, im image.Image, quality int) image.Image {
	t.Helper()
	var b bytes.Buffer
	settest.Check(t, jpeg.Encode(&b, im, &jpeg.Options{Quality: quality}))
	im, err := jpeg.Decode(&b)
	settest.Check(t, err)
	return im
}

// TestNearHashDistinguishesImages: slightly changed copies are within the default distance of their
// image, and different images are not.
func TestNearHashDistinguishesImages(t *testing.T) {
	race.Skip(t)
	images := photographs(t)
	for i := range 20 {
		images[fmt.Sprint("made ", i)] = waves(uint64(i))
	}
	hashOf := func(im image.Image) nearHash {
		var thumb Thumb
		averageTo(&thumb, im)
		return hashThumb(&thumb)
	}
	hashes := map[string]nearHash{}
	furthest, plain := 0, 0
	for n, name := range slices.Sorted(maps.Keys(images)) {
		im := images[name]
		h := hashOf(im)
		hashes[name] = h
		if h.flat {
			plain++
			continue // nothing is guaranteed
		}
		if n%3 != 0 {
			continue // to save time
		}
		r := im.Bounds()
		for change, copied := range map[string]image.Image{
			"half as large":    resized(im, r.Dx()/2, r.Dy()/2),
			"of another shape": resized(im, r.Dx(), r.Dy()*2/3),
			"twice as large":   resized(im, r.Dx()*2, r.Dy()*2),
			"quality 30":       encodedAgain(t, im, 30),
			"brighter":         brighter(im, 120),
			"darker":           brighter(im, 70),
		} {
			copyHash := hashOf(copied)
			d := distance(&h.bits, &copyHash.bits)
			furthest = max(furthest, d)
			if d > defaultNearDistance {
				t.Errorf("%s, %s: %d bits", name, change, d)
			}
		}
	}
	nearest := 256
	names := slices.Sorted(maps.Keys(hashes))
	for i, a := range names {
		for _, b := range names[:i] {
			x, y := hashes[a], hashes[b]
			if d := distance(&x.bits, &y.bits); !x.flat && !y.flat {
				nearest = min(nearest, d)
				if d <= MaxNearDistance {
					t.Errorf("%s and %s: %d bits", a, b, d)
				}
			}
		}
	}
	t.Logf("copies are within %d bits, different pictures %d or more; %d of %d are plain", furthest, nearest, plain, len(names))
	if plain > len(names)/4 {
		t.Errorf("%d of %d are taken for plain", plain, len(names))
	}
}

// TestDeepFindsSimilarImages has similar images in the same split and in different ones.
func TestDeepFindsSimilarImages(t *testing.T) {
	original := waves(1)
	dir := t.TempDir()
	write := func(file string, images ...image.Image) {
		settest.ExampleFile(t, filepath.Join(dir, file), len(images), func(i int, b *tfrecord.Builder) {
			var data bytes.Buffer
			settest.Check(t, jpeg.Encode(&data, images[i], &jpeg.Options{Quality: 90}))
			b.Bytes("image", data.Bytes())
			b.String("key", fmt.Sprintf("%s%d", file[:2], i))
		})
	}
	gray := image.NewUniform(color.Gray{99})
	plain := image.NewGray(image.Rect(0, 0, 50, 50))
	draw.Draw(plain, plain.Bounds(), gray, image.Point{}, draw.Src)
	write("a-test.tfrecord", original, waves(2), waves(3), plain, resized(plain, 20, 20))
	write("b-train.tfrecord", waves(4), resized(original, 80, 60), brighter(waves(4), 90), encodedAgain(t, waves(2), 40))
	report := verifyDeep(t, Options{Deep: &DeepOptions{Decode: decodePNG, Near: true}}, dir)
	got := brief(report)
	want := []string{"f near_leak train 1 test 0 a-0", "w near_duplicate train 2 train 0 b-0", "f near_leak train 3 test 1 a-1"}
	n := report.Deep.Near
	if !slices.Equal(got, want) || report.OK || n.Records != 3 || n.Leaks != 2 || n.Flat != 2 || n.Cut != 0 {
		t.Errorf("%q, %+v", got, n)
	}
	for _, f := range report.Deep.Findings {
		if f.Distance == nil || *f.Distance > defaultNearDistance || f.Offset <= 0 || f.Key == "" {
			t.Errorf("%+v", f)
		}
	}
	// A documented limit of --near: crops are not found.
	cut := original.(*image.RGBA).SubImage(image.Rect(40, 30, 120, 90))
	var a, b Thumb
	averageTo(&a, original)
	averageTo(&b, cut)
	x, y := hashThumb(&a), hashThumb(&b)
	if d := distance(&x.bits, &y.bits); d <= defaultNearDistance {
		t.Errorf("a part of a picture is %d bits from it", d)
	}
}

// BenchmarkNearSearch searches as many distinct hashes as a large set of photographs has.
func BenchmarkNearSearch(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	hashes := make([][4]uint64, 100_000)
	for i := range hashes {
		hashes[i] = [4]uint64{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()}
	}
	s := &nearSearch{hashes: hashes, distance: defaultNearDistance, workers: 2}
	b.ReportAllocs()
	for b.Loop() {
		settest.Check(b, s.each(context.Background(), func(int, int, int) {}, func(int) {}))
	}
}

// BenchmarkNearHash hashes a thumb.
func BenchmarkNearHash(b *testing.B) {
	var thumb Thumb
	averageTo(&thumb, waves(9))
	b.ReportAllocs()
	for b.Loop() {
		hashThumb(&thumb)
	}
}

// BenchmarkNearMemory finds similar images among many, starting from their hashes: B/op is the
// allocation of the whole run.
func BenchmarkNearMemory(b *testing.B) {
	const images = 100_000
	path := settest.ExampleFile(b, filepath.Join(b.TempDir(), "x.tfrecord"), 1, settest.Numbers)
	b.ReportAllocs()
	for b.Loop() {
		rng := rand.New(rand.NewPCG(1, 2))
		d := newDeepRun(b.Context(), &DeepOptions{Near: true, Decode: decodePNG, TempDir: b.TempDir()}, []shard.Source{{Path: path}}, 2, 10)
		var batch nearDupBatch
		for i := range int64(images) {
			h := nearHash{bits: [4]uint64{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()}}
			batch.add(h, twin{hash: digest.Hash{Hi: uint64(i), Lo: 1}, at: recordRef{record: i, offset: i, key: "train/class/picture.jpg"}})
			if len(batch.list) == batchRecords {
				settest.Check(b, d.alike.add(&batch))
			}
		}
		settest.Check(b, d.alike.add(&batch))
		r := &DeepReport{Counts: map[FindingKind]int64{}}
		settest.Check(b, d.alike.judge(context.Background(), d, r))
		if r.Near.Records != 0 {
			b.Fatalf("%+v", r.Near)
		}
		d.close()
	}
}
