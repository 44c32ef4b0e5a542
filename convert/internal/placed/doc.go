// Package placed moves boxes, keypoints and masks with the pixels of their image, and adds them to its
// record. They come from annotations, or from the TFRecord that the image is in.
//
// A [Mapping] maps positions on the image to the stored image. A [Placer] places [Objects] by it.
package placed
