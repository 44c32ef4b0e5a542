// Package origin lists the images of a source: a directory tree, archives, TFRecords, or a column of
// Parquet and Arrow files.
//
// A [Listing] has the images with their sizes, labels and splits, what is known beside them (columns of
// a table, annotations, masks), and the account of what the source has and the set will not. An
// [Origin] then reads one image at a time. Nothing here decodes an image.
package origin
