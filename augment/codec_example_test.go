package augment_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"log"

	"github.com/tfrec/tfrec/augment"
)

// Decode an image of any format, make it smaller, and encode it as JPEG.
func ExampleCodec() {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewRGBA(image.Rect(0, 0, 640, 480))); err != nil {
		log.Fatal(err)
	}

	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var im, small augment.Image // reused from image to image
	info, err := codec.Decode(&im, file.Bytes(), augment.DecodeOptions{Channels: 3})
	if err != nil {
		log.Fatal(err) // augment.ErrDamaged, or not an image
	}
	spec := augment.ResizeSpec{Width: 160, Height: 160, Fit: augment.Longer, NoAntialias: true}
	if err := spec.Apply(&small, &im, nil); err != nil {
		log.Fatal(err)
	}
	jpeg, err := codec.AppendJPEG(nil, &small, 95, "420")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Format, im.Width, im.Height, small.Width, small.Height, augment.Sniff(jpeg))
	// Output:
	// png 640 480 160 120 jpeg
}
