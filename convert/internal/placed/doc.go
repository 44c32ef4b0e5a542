// Package placed moves what is annotated on an image with its pixels: boxes, keypoints and masks, from
// annotations or from the record that the image is in, and adds them to a new record.
//
// A [Mapping] is where the pixels go. A [Placer] places [Objects] by it.
package placed
