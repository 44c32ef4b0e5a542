// Package resample resizes images by filters, one axis after the other, with the bytes of Pillow or
// of tf.image.resize.
//
//	Key ─► Axis (weights, cached) ─► rows across ─► band of rows ─► rows down ─► image
//
// A [Key] determines the weights of an axis, an [Axis] holds them, and [Memory] the rows between
// the two passes. The arithmetic is in integers, with the same weights on every architecture.
// Assembly (weigh_amd64.s, weigh_arm64.s) has a reference implementation in weigh_plain.go. What
// part of an image is resized, and to which size, is decided by package fit.
package resample
