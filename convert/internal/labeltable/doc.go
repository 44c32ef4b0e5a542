// Package labeltable reads LabelSpec.File, a table with the labels, features and splits of images, and
// matches its rows with the images that a walk has found.
//
// Paths in rows need not be exactly those of the images. Where they differ, package labeltable notes how,
// and what helps.
package labeltable
