package reader_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// tiles builds Examples of images of one color, their classes and some tags.
func tiles(b *tfrecord.Builder, i int) {
	im := image.NewGray(image.Rect(0, 0, 8, 8))
	for k := range im.Pix {
		im.Pix[k] = color.Gray{Y: uint8(51 * i)}.Y
	}
	var data bytes.Buffer
	if err := png.Encode(&data, im); err != nil {
		log.Fatal(err)
	}
	b.Bytes(reader.DefaultImageKey, data.Bytes())
	b.Int64(reader.DefaultLabelKey, int64(i%3))
	b.Int64("tags", []int64{7, 9}[:i%3]...)
}

// Images with their boxes, which a policy flips with the pixels: xmin, ymin, xmax, ymax in pixels of
// the batch, as torchvision wants them. Record 0 has no box, record 1 has the left half of the image,
// record 2 has the same and the whole image.
func ExampleImages_objects() {
	dir, remove := written(3, func(b *tfrecord.Builder, i int) {
		tiles(b, i)
		b.Float("image/object/bbox/xmin", []float32{0, 0}[:i]...)
		b.Float("image/object/bbox/ymin", []float32{0, 0}[:i]...)
		b.Float("image/object/bbox/xmax", []float32{0.5, 1}[:i]...)
		b.Float("image/object/bbox/ymax", []float32{1, 1}[:i]...)
		b.Int64("image/object/class/label", []int64{3, 5}[:i]...)
	})
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	policy, err := augment.ParsePolicy("hflip:p=1")
	if err != nil {
		log.Fatal(err)
	}
	images := reader.Images(set.Records(), reader.ImageSpec{Size: 100, Batch: 3, Policy: policy, Objects: &columns.ObjectSpec{}})
	for batch, err := range images.All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		o := batch.Objects
		for i := range batch.Shape[0] {
			from, to := o.Splits[i], o.Splits[i+1]
			fmt.Println(o.Labels[from:to], o.Boxes[4*from:4*to])
		}
	}
	// Output:
	// [] []
	// [3] [50 0 100 100]
	// [3 5] [50 0 100 100 0 0 100 100]
}

// Images with the masks of their objects, which a policy flips with the pixels: a mask of the size of
// the images for each box. Record 0 has no object, and record 1 has the left half of the image.
func ExampleImages_objectMasks() {
	half := image.NewGray(image.Rect(0, 0, 8, 8))
	for i := range half.Pix {
		half.Pix[i] = []uint8{255, 0}[i%8/4]
	}
	var mask bytes.Buffer
	if err := png.Encode(&mask, half); err != nil {
		log.Fatal(err)
	}
	dir, remove := written(2, func(b *tfrecord.Builder, i int) {
		tiles(b, i)
		b.Float("image/object/bbox/xmin", []float32{0}[:i]...)
		b.Float("image/object/bbox/ymin", []float32{0}[:i]...)
		b.Float("image/object/bbox/xmax", []float32{0.5}[:i]...)
		b.Float("image/object/bbox/ymax", []float32{1}[:i]...)
		b.Int64("image/object/class/label", []int64{3}[:i]...)
		b.Bytes("image/object/mask", [][]byte{mask.Bytes()}[:i]...)
	})
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	policy, err := augment.ParsePolicy("hflip:p=1")
	if err != nil {
		log.Fatal(err)
	}
	images := reader.Images(set.Records(), reader.ImageSpec{Size: 4, Batch: 2, Policy: policy, Objects: &columns.ObjectSpec{Masks: true}})
	for batch, err := range images.All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		o := batch.Objects
		fmt.Println(o.MaskShape, o.Splits)
		fmt.Println(o.Masks)
	}
	// Output:
	// [1 4 4] [0 0 1]
	// [0 0 1 1 0 0 1 1 0 0 1 1 0 0 1 1]
}

// Images with several tags each: those of a batch have one tensor, and their tags are a ragged column.
func ExampleImages_columns() {
	dir, remove := written(4, tiles)
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	images := reader.Images(set.Records(), reader.ImageSpec{
		Size: 8, Batch: 2, DType: reader.BFloat16,
		Columns: columns.Schema{{Key: "tags", Kind: tfrecord.KindInt64, Ragged: true}},
	})
	for batch, err := range images.All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		tags := batch.Columns.Get("tags")
		last := batch.Halves[len(batch.Halves)-1] // the upper half of a float32
		fmt.Printf("%v %v %#04x %v %v\n", batch.Shape, batch.DType, last, tags.Splits, tags.Int64s)
	}
	// Output:
	// [2 8 8 3] bfloat16 0x3e4d [0 0 1] [7]
	// [2 8 8 3] bfloat16 0x3f1a [0 2 2] [7 9]
}

// Clips of two frames, with the actions of the same steps, from episodes of any length.
func ExampleImages_frames() {
	dir, remove := written(2, func(b *tfrecord.Builder, i int) {
		var frames [][]byte
		for k := range 4 - i {
			im := image.NewGray(image.Rect(0, 0, 8, 8))
			im.Pix[0] = uint8(10*i + k)
			var data bytes.Buffer
			if err := png.Encode(&data, im); err != nil {
				log.Fatal(err)
			}
			frames = append(frames, data.Bytes())
		}
		b.Bytes("steps/image", frames...)
		b.Int64("steps/action", []int64{1, 2, 3, 4}[:4-i]...)
	})
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{})
	if err != nil {
		log.Fatal(err)
	}
	actions := columns.Field{Key: "steps/action", Kind: tfrecord.KindInt64, Steps: columns.FlatSteps, Length: 2}
	windows := reader.Windows(set.Records(), columns.WindowSpec{Length: 2, Schema: columns.Schema{
		actions, {Key: "steps/image", Kind: tfrecord.KindBytes, Steps: columns.FlatSteps},
	}})
	clips := reader.Images(windows, reader.ImageSpec{
		Size: 8, Channels: 1, Batch: 4, NoLabels: true,
		ImageKey: "steps/image", Steps: columns.FlatSteps, Frames: 2,
		Columns: columns.Schema{actions},
	})
	for batch, err := range clips.All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Shape, batch.Lengths)
		for i := range 8 {
			fmt.Print(batch.Bytes[64*i], " ")
		}
		fmt.Println(batch.Columns.Get("steps/action").Int64s)
	}
	// Output:
	// [4 2 8 8 1] [2 2 2 1]
	// 0 1 2 3 10 11 12 0 [1 2 3 4 1 2 3 0]
}

// MixUp or CutMix, drawn for each batch, with labels in the same proportion.
func ExampleImages_mix() {
	dir, remove := written(6, tiles)
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{Seed: 5})
	if err != nil {
		log.Fatal(err)
	}
	images := reader.Images(set.Records(), reader.ImageSpec{
		Size: 8, Batch: 3, Classes: 3,
		Mix: augment.Mix{MixUp: 0.2, CutMix: 1},
	})
	for batch, err := range images.All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("lambda %.3f, box %v\n", batch.Mix.Lambda, batch.Mix.Box)
		for i, label := range batch.Labels {
			fmt.Printf("%d: %.3f\n", label, batch.SoftLabels[3*i:][:3])
		}
	}
	// Output:
	// lambda 0.750, box (4,4)-(8,8)
	// 0: [0.750 0.000 0.250]
	// 1: [0.250 0.750 0.000]
	// 2: [0.000 0.250 0.750]
	// lambda 0.997, box (0,0)-(0,0)
	// 0: [0.997 0.000 0.003]
	// 1: [0.003 0.997 0.000]
	// 2: [0.000 0.003 0.997]
}

// Images of two cameras in one tensor, and masks that are cropped and flipped as the images of the
// first one are.
func ExampleImages_masks() {
	dir, remove := written(2, func(b *tfrecord.Builder, i int) {
		tiles(b, i+1)
		mask := image.NewGray(image.Rect(0, 0, 8, 8))
		for y := range 8 {
			mask.Pix[8*y] = 1 // an object at the left edge
		}
		var data bytes.Buffer
		if err := png.Encode(&data, mask); err != nil {
			log.Fatal(err)
		}
		b.Bytes("mask", data.Bytes())
		b.Bytes("other camera", data.Bytes())
	})
	defer remove()

	set, err := reader.Open(context.Background(), dir, reader.Options{Seed: 3})
	if err != nil {
		log.Fatal(err)
	}
	policy, err := augment.ParsePolicy("hflip")
	if err != nil {
		log.Fatal(err)
	}
	images := reader.Images(set.Records(), reader.ImageSpec{
		Size: 8, Batch: 2, Policy: policy,
		OtherImageKeys: []string{"other camera"}, MaskKey: "mask", MaskFill: 255,
	})
	for batch, err := range images.All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Shape)
		fmt.Println(batch.Masks[:8])
		fmt.Println(batch.Masks[64:][:8])
	}
	// Output:
	// [2 2 8 8 3]
	// [1 0 0 0 0 0 0 0]
	// [0 0 0 0 0 0 0 1]
}
