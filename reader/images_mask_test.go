package reader

import (
	"errors"
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/testpng"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// A mask that does not fit its image, and an image that is missing, are errors of the record that
// name the feature.
func TestImagesSayWhichMaskIsBad(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	random := func(w, h, channels int) []byte {
		data, err := augment.AppendPNG(nil, randomImage(rnd, w, h, channels))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	good := random(12, 9, 1)
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	jpeg, err := codec.AppendJPEG(nil, randomImage(rnd, 12, 9, 1), 100, "gray")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		mask, left []byte
		says       string
	}{
		"another size": {random(12, 8, 1), good, `feature "mask": the mask is 12x8x1: want 12x9x1`},
		"colors":       {random(12, 9, 3), good, `feature "mask": the mask is 12x9x3`},
		"lossy":        {jpeg, good, `feature "mask": the jpeg is not a mask: store the classes in a PNG`},
		"16 bits":      {testpng.Encode(image.NewGray16(image.Rect(0, 0, 12, 9))), good, `feature "mask": the png is not a mask: store the classes in a PNG, grayscale with up to 8 bits`},
		"damaged":      {good[:len(good)/2], good, `feature "mask": `},
		"no mask":      {nil, good, `feature "mask": want an image; it has 0 values`},
		"no left":      {good, nil, `feature "left": want an image; it has 0 values`},
		"damaged left": {good, good[:len(good)/2], `feature "left": `},
	} {
		set := writeRecords(t, Options{}, 1, func(int) (records [][]byte) {
			for i := range 5 {
				records = append(records, settest.Example(func(b *tfrecord.Builder) {
					mask, left := good, good
					if i == 3 {
						mask, left = c.mask, c.left
					}
					b.Bytes(DefaultImageKey, random(12, 9, 3))
					if mask != nil {
						b.Bytes("mask", mask)
					}
					if left != nil {
						b.Bytes("left", left)
					}
				}))
			}
			return records
		})
		spec := ImageSpec{Size: 4, Batch: 2, NoLabels: true, MaskKey: "mask", OtherImageKeys: []string{"left"}}
		var err error
		for _, err = range Images(set.Records(), spec).All(t.Context()) {
		}
		var located *tfrecord.Error
		if !errors.As(err, &located) || located.Record != 3 || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want record 3, %s", name, err, c.says)
		}
	}
}

// The classes of a mask with a palette are its indexes, whatever the colors.
func TestMasksWithPalette(t *testing.T) {
	mask := image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.White, color.Black, color.White})
	mask.Pix = []byte{2, 1, 0, 2}
	set := writeRecords(t, Options{}, 1, func(int) [][]byte {
		return [][]byte{settest.Example(func(b *tfrecord.Builder) {
			b.Bytes(DefaultImageKey, testpng.Encode(image.NewRGBA(mask.Rect)))
			b.Bytes("mask", testpng.Encode(mask))
		})}
	})
	for b, err := range Images(set.Records(), ImageSpec{Size: 2, NoLabels: true, MaskKey: "mask"}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(b.Masks, mask.Pix) {
			t.Errorf("%v; want %v", b.Masks, mask.Pix)
		}
	}
}

// A mask that was painted with an image follows it, whatever its EXIF orientation, in batches of
// images and in clips.
func TestMasksFollowOrientations(t *testing.T) {
	for _, seed := range torture.Seeds(24, 200) {
		r := rand.New(rand.NewPCG(seed, 61))
		orientation := 1 + int(seed%8)
		const block = 8 // of a JPEG, in which all samples are equal
		mask := &augment.Image{}
		mask.Reset(block*(1+r.IntN(6)), block*(1+r.IntN(6)), 1)
		classes := make([]uint8, mask.Width*mask.Height/block/block)
		for i := range classes {
			classes[i] = uint8(r.IntN(2))
		}
		im := &augment.Image{}
		im.Reset(mask.Width, mask.Height, 3)
		for y := range mask.Height {
			for x := range mask.Width {
				class := classes[y/block*(mask.Width/block)+x/block]
				mask.Row(y)[x] = class
				pipeline.Fill(im.Row(y)[3*x:3*x+3:3*x+3], 255*class)
			}
		}
		png, err := augment.AppendPNG(nil, mask)
		if err != nil {
			t.Fatal(err)
		}
		jpeg := orientedJPEG(t, im, orientation)
		want := uprightMask(mask, orientation)
		spec := ImageSpec{Resize: augment.ResizeSpec{Width: want.Width, Height: want.Height, NoAntialias: true}, Batch: 3, NoLabels: true, MaskKey: "mask", MaskFill: 255}
		text := []string{"", "hflip", "vflip", "hflip|vflip"}[r.IntN(4)]
		if text != "" {
			if spec.Policy, err = augment.ParsePolicy(text); err != nil {
				t.Fatal(err)
			}
		}
		frames := 1 + r.IntN(2)
		if frames > 1 {
			spec.Steps, spec.Frames = columns.FlatSteps, frames
		}
		set := writeRecords(t, Options{Seed: seed}, 1, func(int) (records [][]byte) {
			for range 5 {
				records = append(records, settest.Example(func(b *tfrecord.Builder) {
					b.Bytes(DefaultImageKey, slices.Repeat([][]byte{jpeg}, frames)...)
					b.Bytes("mask", slices.Repeat([][]byte{png}, frames)...)
				}))
			}
			return records
		})
		checkFreed := drawBackend(r, &spec)
		for b, err := range Images(set.Records(), spec).All(t.Context()) {
			if err != nil {
				t.Fatalf("seed %d, orientation %d: %v", seed, orientation, err)
			}
			if text == "" && !slices.Equal(b.Masks, slices.Repeat(want.Pix, b.Shape[0]*frames)) {
				t.Errorf("seed %d, orientation %d: the masks are not turned", seed, orientation)
			}
			for i, class := range b.Masks {
				if b.Bytes[3*i]>>7 != class {
					t.Errorf("seed %d, orientation %d, %q: pixel %d is %d, class %d", seed, orientation, text, i, b.Bytes[3*i], class)
					break
				}
			}
		}
		checkFreed(t)
	}
}
