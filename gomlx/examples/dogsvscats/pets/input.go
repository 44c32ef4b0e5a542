// Package pets is the input and the model of the example that tells cats from dogs.
package pets

import (
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/reader"
)

// Size is the width and height of the images of a batch.
const Size = 75

// variation rotates by 20 degrees (the standard deviation) and mirrors every other image.
const variation = "rotate:34.6,bilinear,expand=true|hflip"

// Train returns batches for training: endless, in another order in each epoch, with a variation of
// each image that is its own in each epoch.
func Train(set *reader.Set, batch int) (reader.Flow[*reader.ImageBatch], error) {
	policy, err := augment.ParsePolicy(variation)
	if err != nil {
		return reader.Flow[*reader.ImageBatch]{}, err
	}
	spec := images(batch)
	spec.Policy = policy
	return reader.Images(set.ShuffleAll(reader.ShuffleAllOptions{}).Repeat(-1), spec), nil
}

// Eval returns batches of all images, unchanged and in their order.
func Eval(set *reader.Set, batch int) reader.Flow[*reader.ImageBatch] {
	return reader.Images(set.Records(), images(batch))
}

// images fits images into squares, on black.
func images(batch int) reader.ImageSpec {
	return reader.ImageSpec{
		Resize: augment.ResizeSpec{Width: Size, Height: Size, Fit: augment.Pad, Filter: augment.Lanczos3},
		DType:  reader.Float32, Batch: batch,
	}
}
