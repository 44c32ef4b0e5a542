// Package sample makes records of images.
//
// A [Set] is the listed images of a source and what is known of all of them: it names and identifies a
// [Sample], an image or a variant of one. A [Maker] makes its record, downhill: read, decode, transform
// on a backend, encode, build the record, and frame it in a piece. What one sample needs on the way is
// its [Work], which is used again for another one. Objects and masks are placed where their pixels go.
package sample
