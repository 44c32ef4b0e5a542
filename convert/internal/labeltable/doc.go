// Package labeltable reads LabelSpec.File, a table with the labels, features and splits of images, and
// matches its rows with the images that a walk has found.
//
// Paths in rows may differ from the paths of images. The notes explain the differences, with remedies.
package labeltable
