// Package augment works on pixels: it decodes images of the common formats, resizes and augments
// them, and encodes them again.
//
//	codec, err := augment.NewCodec(augment.CodecOptions{})
//	if err != nil {
//		return err
//	}
//	var im augment.Image // reused from image to image
//	info, err := codec.Decode(&im, data, augment.DecodeOptions{Channels: 3})
//	if errors.Is(err, augment.ErrDamaged) {
//		log.Printf("skipped: %v", err)
//	}
//	small, scratch := augment.Image{}, augment.Scratch{}
//	err = augment.ResizeSpec{Width: 224, Height: 224}.Apply(&small, &im, nil)
//	data, err = codec.AppendJPEG(data[:0], &small, 95, "420")
//
// The format is detected from the content, not from the name: JPEG, PNG, GIF (the first frame),
// BMP, WebP (likewise) and TIFF (the first page). EXIF orientation is always applied.
//
// # Augmentation
//
// Augmentation is drawn first and applied later. A [Policy], from text or YAML, turns a seed, an
// image's key and the number of the copy into a [Draw]: steps with exact parameters, the same on
// any machine. Only applying the Draw touches pixels, and records store it as JSON:
//
//	policy, err := augment.ParsePolicy("random_resized_crop:224,scale=0.3-1|hflip|rotate:15")
//	if err != nil {
//		return err // points at the word that is wrong
//	}
//	draw := policy.Draw(seed, "daisy/1.jpg", 2, im.Width, im.Height)
//	err = draw.Apply(&variant, &im, nil)
//
// [Operations] lists all operations with their parameters; docs/augment.md describes them.
//
// # Boxes and masks
//
// [Draw.Box] returns the position of a [Box] after a draw, and its visible share. [Geometry.Box]
// does the same for a resize, [Box.Orient] for EXIF orientation. [Draw.Mask] returns the draw for a
// mask of the image:
//
//	draw := policy.DrawBoxes(seed, "daisy/1.jpg", 2, im.Width, im.Height, boxes)
//	box, visible := draw.Box(boxes[0], im.Width, im.Height)
//	err = draw.Mask(255).Apply(&variantMask, &mask, nil)
//
// # Batches and GPUs
//
// A [Task] combines all of that for one image: the image, decoded or as a JPEG, a draw, a size and
// the form of the result. A [Backend] executes batches of tasks: [CPU] here, a GPU in package gpu,
// with the same bytes. A [HostAllocator] has memory for results that a device writes to directly.
package augment
