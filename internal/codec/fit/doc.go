// Package fit resizes images to a target of any shape: it decides which window of the resized image
// lands where, and has package resample compute that window alone.
//
//	ResizeSpec ─► Geometry ─► window of the image, or of each of its planes ─► canvas with padding
//
// A [Geometry] follows from the size of the whole image, also for one that was decoded at a part of
// it. Planes are resized from one grid of chroma to another without RGB in between. It contains no
// filter.
package fit
