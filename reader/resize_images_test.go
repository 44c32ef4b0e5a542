package reader

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

// gradient returns a JPEG of w by h pixels.
func gradient(t testing.TB, w, h int) []byte {
	t.Helper()
	im := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			im.Set(x, y, color.RGBA{uint8(x * 255 / w), uint8(y * 255 / h), 90, 255})
		}
	}
	var b bytes.Buffer
	settest.Check(t, jpeg.Encode(&b, im, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

// imageRecords are a set with an image of each size in a record.
func imageRecords(t *testing.T, sizes [][2]int, more func(b *tfrecord.Builder)) *Set {
	t.Helper()
	return writeRecords(t, Options{}, 1, func(int) (records [][]byte) {
		for i, s := range sizes {
			records = append(records, settest.Example(func(b *tfrecord.Builder) {
				b.Bytes(imagekey.Encoded, gradient(t, s[0], s[1]))
				b.Int64(imagekey.Width, int64(s[0]))
				b.Int64(imagekey.Height, int64(s[1]))
				b.Int64(imagekey.Label, int64(i))
				b.String("note", "as it was")
				if more != nil {
					more(b)
				}
			}))
		}
		return records
	})
}

// ResizeImages makes images smaller once: those of a cache are decoded to the pixels that the resized
// records have, all other features stay, and what has the size is not encoded again.
func TestResizeImages(t *testing.T) {
	sizes := [][2]int{{200, 100}, {64, 32}, {31, 90}, {300, 300}, {20, 20}}
	set := imageRecords(t, sizes, nil)
	o := ResizeOptions{Resize: augment.ResizeSpec{Width: 64, Height: 64, Fit: augment.Longer, NoUpscale: true}}
	pipe := ResizeImages(set.Records(), o)
	codec, err := augment.NewCodec(augment.CodecOptions{})
	settest.Check(t, err)
	want := [][2]int{{64, 32}, {64, 32}, {22, 64}, {64, 64}, {20, 20}}
	for pass := range 2 {
		n := 0
		for r, err := range pipe.Cache(CacheOptions{Dir: t.TempDir()}).Repeat(2).All(t.Context()) {
			settest.Check(t, err)
			i := n % len(sizes)
			var e tfrecord.Example
			settest.Check(t, e.Parse(r.Data))
			int64Of := func(key string) int64 {
				f, _ := e.Get(key)
				v, _ := f.Int64()
				return v
			}
			f, _ := e.Get(imagekey.Encoded)
			data, _ := f.Bytes()
			info, err := codec.Stat(data)
			settest.Check(t, err)
			if got := [2]int{info.Width, info.Height}; got != want[i] || int64Of(imagekey.Width) != int64(want[i][0]) || int64Of(imagekey.Height) != int64(want[i][1]) {
				t.Errorf("image %d is %v, and %dx%d by its features; want %v", i, got, int64Of(imagekey.Width), int64Of(imagekey.Height), want[i])
			}
			if same := bytes.Equal(data, gradient(t, sizes[i][0], sizes[i][1])); same != (sizes[i] == want[i]) {
				t.Errorf("image %d has the bytes of the original: %v", i, same)
			}
			note, _ := e.Get("note")
			if text, _ := note.Bytes(); string(text) != "as it was" || int64Of(imagekey.Label) != int64(i) {
				t.Errorf("image %d: label %d, note %q", i, int64Of(imagekey.Label), text)
			}
			n++
		}
		if n != 2*len(sizes) {
			t.Errorf("pass %d: %d records", pass, n)
		}
	}
	batches := 0
	for b, err := range Images(pipe, ImageSpec{Size: 16, Batch: 5}).All(t.Context()) {
		settest.Check(t, err)
		batches += b.Shape[0]
	}
	if batches != len(sizes) {
		t.Errorf("%d images in batches", batches)
	}
}

func TestResizeImagesRefuses(t *testing.T) {
	size := augment.ResizeSpec{Square: 32}
	for want, c := range map[string]struct {
		o    ResizeOptions
		more func(b *tfrecord.Builder)
	}{
		"want the size":             {ResizeOptions{}, nil},
		"want 1 to 100":             {ResizeOptions{Resize: size, Quality: 101}, nil},
		"want an image":             {ResizeOptions{Resize: size, ImageKey: "photo"}, nil},
		"as raw samples":            {ResizeOptions{Resize: size}, func(b *tfrecord.Builder) { b.String(imagekey.Format, "raw") }},
		"image/object/bbox/xmin":    {ResizeOptions{Resize: size}, func(b *tfrecord.Builder) { b.Float("image/object/bbox/xmin", 0.1) }},
		"image/segmentation/class/": {ResizeOptions{Resize: size}, func(b *tfrecord.Builder) { b.String("image/segmentation/class/encoded", "png") }},
	} {
		var err error
		for _, err = range ResizeImages(imageRecords(t, [][2]int{{40, 40}}, c.more).Records(), c.o).All(t.Context()) {
			if err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
