// Package nvjpeg decodes JPEGs on NVIDIA GPUs with nvJPEG, where that is installed.
//
//	library, err := nvjpeg.Open(stream) // ErrAbsent: no libnvjpeg.so.13, .12 or .11 works with the driver and GPU
//	decoder, err := library.NewDecoder(stream)
//	defer decoder.Close()
//	info, err := decoder.Parse(data)
//	images := []nvjpeg.Image{{Data: data, To: buffer, Planes: [3]nvjpeg.Plane{{Pitch: info.Width}, …}}}
//	err = decoder.Decode(images) // queues it: kernels that use the planes may follow
//	err = decoder.Wait()
//	if images[0].Err != nil { // this one nvJPEG refuses: decode it elsewhere
//
// Decoded images are planes of YCbCr, or of gray, as they are stored: kernels upsample the chroma
// and convert colours, as libjpeg does.
//
// Each image is decoded by the first backend that accepts it: the chip's own JPEG decoder, a whole
// batch at a time; the GPU with the processor's help; the GPU for everything but Huffman codes,
// which the processor decodes. Pixels depend on nvJPEG and on the backend, within a tolerance of
// libjpeg-turbo's.
//
// nvJPEG accepts damaged images that others reject: look for damage first if that matters. Parts of
// images, and images at a part of their size, are left to the kernels: nvJPEG scales only on the
// chip's decoder, so the pixels would depend on the machine, and it has to read all of an image's
// codes for a part of it.
//
// Like package cuda this is the same in all builds; the library is loaded at run time.
package nvjpeg
