// Package sample names and identifies the samples of a conversion of images.
//
// A [Set] is the listed images of a source with their common properties ([NewSet]). A [Sample] is
// an image or a variant of one, which may be mixed with others. Nothing here reads an image:
// package imagerecord makes the records.
package sample
