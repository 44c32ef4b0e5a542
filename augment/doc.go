// Package augment does pixels: it reads pictures of the common formats into rows of bytes,
// resizes them and writes them again. Crops, flips, colours and policies come to it later: a
// random choice becomes a Draw of exact parameters first, and only then touches pixels.
//
//	codec, err := augment.NewCodec(augment.CodecOptions{})
//	if err != nil {
//		return err
//	}
//	var im augment.Image // reused from picture to picture
//	info, err := codec.Decode(&im, data, augment.DecodeOptions{Channels: 3})
//	if errors.Is(err, augment.ErrDamaged) {
//		log.Printf("skipped: %v", err)
//	}
//	data, err = codec.AppendJPEG(data[:0], &im, 95, "420")
//
// What a picture is, its content says, not its name: JPEG, PNG, GIF (the first frame), BMP,
// WebP (likewise) and TIFF (the first page) are read. Orientation from EXIF is applied
// whenever pixels are.
package augment
