// Package augment does pixels: it reads images of the common formats into rows of bytes,
// resizes and augments them, and writes them again.
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
//	data, err = codec.AppendJPEG(data[:0], &im, 95, "420")
//
// What an image is, its content says, not its name: JPEG, PNG, GIF (the first frame), BMP,
// WebP (likewise) and TIFF (the first page) are read. Orientation from EXIF is applied
// whenever pixels are.
//
// Augmentation is drawn before it is done. A [Policy], from text or YAML, makes of a seed, a
// image's key and the number of the copy a [Draw] of steps with exact parameters, the same
// on any machine; only that touches pixels, and records keep it:
//
//	policy, err := augment.ParsePolicy("random_resized_crop:224,scale=0.3-1|hflip|rotate:15")
//	if err != nil {
//		return err // points at the word that is wrong
//	}
//	draw := policy.Draw(seed, "daisy/1.jpg", 2, im.Width, im.Height)
//	err = draw.Apply(&variant, &im, &scratch)
//
// A [Task] is all that at once: an image, decoded or a JPEG, a draw, a size and a form. A
// [Backend] does many of them: [CPU] here, a GPU in package gpu, with the same bytes.
package augment
