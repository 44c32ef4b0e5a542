// Package origin reads the images of a source: a directory tree, archives, TFRecords, or a column
// of Parquet and Arrow files. A [Place] is the target of a source's path.
//
// An [Image] is an entry of a listing. An [Origin] reads it, with the features that are stored with
// it. The package does not choose or decode images.
package origin
