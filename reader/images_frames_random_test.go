package reader

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/tfrecord"
)

// clipTrial is a set of clips and a way to read it in batches, drawn from a seed.
type clipTrial struct {
	imageTrial // its records have the labels
	clips      []trialClip
}

// trialClip is a record of a clipTrial.
type trialClip struct {
	images [][][]byte // by key and frame
	masks  [][]byte
	action []float32 // two of each frame
	bad    string
}

// frames is the number of frames of ImageKey.
func (c *trialClip) frames() int { return len(c.images[0]) }

func drawClipTrial(t *testing.T, seed uint64, photos [][]byte) *clipTrial {
	r := rand.New(rand.NewPCG(seed, 31))
	x := &clipTrial{imageTrial: imageTrial{repeat: 1 + r.IntN(2)}}
	s := &x.spec
	s.Steps, s.Frames = columns.ListSteps+columns.Steps(r.IntN(2)), []int{columns.Longest, 1 + r.IntN(6)}[r.IntN(2)]
	s.OtherImageKeys = []string{"left", "right"}[:r.IntN(3)]
	s.Resize = augment.ResizeSpec{Width: 1 + r.IntN(12), Height: 1 + r.IntN(12), NoAntialias: !(r.IntN(2) == 0)}
	s.Channels, s.DType, s.NCHW, s.ExactPixels = 1+2*r.IntN(2), DType(r.IntN(4)), r.IntN(2) == 0, true
	s.Batch, s.DropRemainder, s.Workers, s.Classes = 1+r.IntN(5), r.IntN(4) == 0, r.IntN(5), []int{0, 5}[r.IntN(2)]
	if r.IntN(2) == 0 {
		s.Normalize = augment.Normalize{Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}}
	}
	if r.IntN(2) == 0 {
		var err error
		if s.Policy, err = augment.ParsePolicy([]string{"hflip|brightness:0.3", "random_crop:20,padding=15"}[r.IntN(2)]); err != nil {
			t.Fatal(err)
		}
	}
	if r.IntN(3) == 0 {
		s.MaskKey, s.MaskFill = "mask", 255
	} else {
		s.Mix = augment.Mix{MixUp: []float64{0, 0.4, 1}[r.IntN(3)], CutMix: []float64{0, 1}[r.IntN(2)]}
	}
	s.Columns = columns.Schema{{Key: "id", Kind: tfrecord.KindInt64}}
	if r.IntN(2) == 0 {
		s.Columns = append(s.Columns, columns.Field{Key: "action", Kind: tfrecord.KindFloat, Shape: []int{2}, Steps: s.Steps, Length: s.Frames})
	}
	bad := []float64{0, 0.1, 0.4}[r.IntN(3)]
	for range 1 + r.IntN(12) {
		x.records = append(x.records, imageRecord{label: r.Int64N(5)})
		x.clips = append(x.clips, x.drawClip(t, r, photos, r.Float64() < bad))
	}
	return x
}

// drawClip draws a record.
func (x *clipTrial) drawClip(t *testing.T, r *rand.Rand, photos [][]byte, bad bool) (c trialClip) {
	png := func(w, h, channels int) []byte {
		data, err := augment.AppendPNG(nil, randomImage(r, w, h, channels))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	n, w, h := r.IntN(6), 1+r.IntN(20), 1+r.IntN(20)
	if x.spec.Frames != columns.Longest {
		n = min(n, x.spec.Frames)
	}
	for range 1 + len(x.spec.OtherImageKeys) {
		c.images = append(c.images, nil)
	}
	for range n {
		for k := range c.images {
			data := png(w, h, 1+2*r.IntN(2))
			if x.spec.MaskKey == "" && r.IntN(10) == 0 {
				data = photos[r.IntN(len(photos))]
			}
			c.images[k] = append(c.images[k], data)
		}
		c.masks = append(c.masks, png(w, h, 1))
		c.action = append(c.action, r.Float32(), r.Float32())
	}
	if !bad {
		return c
	}
	var kinds []string
	for kind, possible := range map[string]bool{
		"damaged": n > 0, "mask": n > 0 && x.spec.MaskKey != "", "lengths": len(c.images) > 1,
		"column": len(x.spec.Columns) > 1, "too long": x.spec.Frames != columns.Longest,
	} {
		if possible {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return c
	}
	slices.Sort(kinds)
	c.bad = kinds[r.IntN(len(kinds))]
	k, at := r.IntN(len(c.images)), r.IntN(max(n, 1))
	switch c.bad {
	case "damaged":
		c.images[k][at] = c.images[k][at][:20]
	case "mask":
		c.masks[at] = png(w+1, h, 1)
	case "lengths":
		c.images[1] = append(c.images[1], png(w, h, 3))
	case "column":
		c.action = append(c.action, 1)
	default:
		c.images[0] = slices.Repeat([][]byte{png(1, 1, 1)}, x.spec.Frames+1)
	}
	return c
}

// record returns record i, without its images if images is not set.
func (x *clipTrial) record(i int, images bool) []byte {
	c := &x.clips[i]
	var b tfrecord.SequenceBuilder
	b.Context.Int64(DefaultLabelKey, x.records[i].label)
	b.Context.Int64("id", int64(i))
	flat := x.spec.Steps == columns.FlatSteps
	add := func(key string, values [][]byte) {
		if flat {
			b.Context.Bytes(key, values...)
			return
		}
		b.List(key)
		for _, v := range values {
			b.Bytes(key, v)
		}
	}
	if images {
		for k, frames := range c.images {
			add(imageKeyOf(&x.spec, k), frames)
		}
		add("mask", c.masks)
	}
	if flat {
		b.Context.Float("action", c.action...)
	} else if images || len(x.spec.Columns) > 1 {
		b.List("action")
		for action := range slices.Chunk(c.action, 2) {
			b.Float("action", action...)
		}
	}
	return b.Append(nil)
}

// imageKeyOf returns the feature with image k of a record.
func imageKeyOf(s *ImageSpec, k int) string {
	if k == 0 {
		return DefaultImageKey
	}
	return s.OtherImageKeys[k-1]
}

// expect returns the batches, frame by frame.
func (x *clipTrial) expect(t *testing.T) (batches []*ImageBatch) {
	t.Helper()
	s := &x.spec
	total := len(x.clips) * x.repeat
	for from := 0; from < total; from += s.Batch {
		to := min(from+s.Batch, total)
		b := &ImageBatch{Epoch: int32(from / len(x.clips)), Mix: augment.MixDraw{Lambda: 1}}
		var kept []int
		frames := max(s.Frames, 1)
		for i := from; i < to; i++ {
			if c := &x.clips[i%len(x.clips)]; c.bad == "" {
				kept, frames, b.Lengths = append(kept, i), max(frames, c.frames()), append(b.Lengths, int64(c.frames()))
			}
		}
		if len(kept) == 0 || to-from < s.Batch && s.DropRemainder {
			continue
		}
		var records []*imageRecord
		var raw [][]byte
		images := make([][][]byte, len(kept))
		for row, i := range kept {
			c := &x.clips[i%len(x.clips)]
			for _, key := range c.images {
				for k := range frames {
					var pixels []byte
					if k < c.frames() {
						pixels = x.pixels(t, key[k], i)
					}
					images[row] = append(images[row], pixels)
				}
			}
			for k := 0; k < frames && s.MaskKey != ""; k++ {
				if k < c.frames() {
					b.Masks = append(b.Masks, x.mask(t, &imageRecord{image: c.images[0][k], mask: c.masks[k]}, i)...)
				} else {
					b.Masks = append(b.Masks, slices.Repeat([]byte{255}, s.Resize.Width*s.Resize.Height)...)
				}
			}
			records, raw = append(records, &x.records[i%len(x.clips)]), append(raw, x.record(i%len(x.clips), false))
		}
		if s.Mix != (augment.Mix{}) {
			b.Mix = s.Mix.Draw(77, fmt.Sprintf("00.tfrecord#%d", from%len(x.clips)), int(b.Epoch), s.Resize.Width, s.Resize.Height)
		}
		plain := imageTrial{spec: *s}
		plain.spec.Columns = nil
		plain.fill(b, records, images)
		b.Shape = slices.Concat(b.Shape[:1], []int{frames}, b.Shape[len(b.Shape)-3:])
		if len(s.OtherImageKeys) > 0 {
			b.Shape = slices.Insert(b.Shape, 1, 1+len(s.OtherImageKeys))
		}
		parser, err := columns.NewParser(s.Columns)
		if err != nil {
			t.Fatal(err)
		}
		if err := parser.Parse(&b.Columns, raw); err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	return batches
}

// pixels returns the samples of a frame of record i of all epochs.
func (x *clipTrial) pixels(t *testing.T, data []byte, i int) []byte {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var im, drawn, small augment.Image
	if _, err := codec.Decode(&im, data, augment.DecodeOptions{Channels: x.spec.Channels}); err != nil {
		t.Fatal(err)
	}
	var draw augment.Draw
	if x.spec.Policy != nil {
		draw = x.spec.Policy.Draw(77, fmt.Sprintf("00.tfrecord#%d", i%len(x.clips)), i/len(x.clips), im.Width, im.Height)
	}
	if err := draw.Apply(&drawn, &im, nil); err != nil {
		t.Fatal(err)
	}
	if err := x.spec.Resize.Apply(&small, &drawn, nil); err != nil {
		t.Fatal(err)
	}
	return small.Pix
}

// Batches of clips are as the plainest code makes them, whatever the spec, and so are those that
// follow a state.
func TestRandomFrames(t *testing.T) {
	photos := trialImages(t)
	counts := map[string]int{}
	for _, seed := range torture.Seeds(60, 400) {
		x := drawClipTrial(t, seed, photos)
		r := rand.New(rand.NewPCG(seed, 32))
		set := writeRecords(t, Options{Seed: 77, SkipBad: SkipBad{Share: 1}}, 1, func(int) (records [][]byte) {
			for i := range x.clips {
				records = append(records, x.record(i, true))
			}
			return records
		})
		want := x.expect(t)
		checkFreed := drawBackend(r, &x.spec)
		f := Images(set.Records().Repeat(x.repeat), x.spec)
		checkBatches(t, f, want, r.IntN(len(want)+1), fmt.Sprintf("seed %d, %+v", seed, x.spec))
		checkFreed(t)
		for _, b := range want {
			switch {
			case len(b.Masks) > 0:
				counts["masks"]++
			case !b.Mix.Box.Empty():
				counts["CutMix"]++
			case b.Mix.Lambda != 1:
				counts["MixUp"]++
			}
			counts[fmt.Sprint(b.DType, " steps ", x.spec.Steps)]++
		}
		for i := range x.clips {
			counts[x.clips[i].bad]++
		}
	}
	if !testing.Short() && (len(counts) != 3+8+6 || slices.Min(slices.Collect(maps.Values(counts))) < 2) {
		t.Errorf("too few of a kind: %v", counts)
	}
}
