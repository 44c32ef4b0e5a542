// Package origin reads the images of a source: a directory tree, archives, TFRecords, or a column of
// Parquet and Arrow files. A [Place] is what the source names.
//
// An [Image] is one of a listing, and an [Origin] reads it, with the features beside it. Nothing here
// chooses images, and nothing decodes one.
package origin
