// Package raster is the language in which package augment tells a processor
// that knows nothing of policies and filters what to do to an image: a list of
// elementary operations on memory, with all that is not trivial (weights,
// tables, matrices) computed beforehand. Whoever carries a [Program] out to the
// letter has augment's bytes.
//
//	input ─► weigh across ─► weigh down ─► convert ─► recolor ─► normalize ─► result
//	           taps            taps                    levels      numbers
//
// A program may begin with a JPEG ([Coded]), whose planes the processor decodes into buffers before
// the first operation.
//
// A program works in buffers, most of which hold images. Where samples lie in
// them is a [View], so that flips, crops and quarter turns cost nothing: they
// are other views of the same memory.
//
// gpu/kernels/raster.h has [Op] for C; gpu/kernels/raster.cu carries it out.
package raster
