// Package raster is the language in which package lower describes the work on an image to a
// processor that knows nothing of policies and filters: a list of elementary operations on memory,
// with everything that is not trivial (weights, tables, matrices) computed in advance. Executing a
// [Program] exactly gives augment's bytes.
//
//	input ─► weigh across ─► weigh down ─► convert ─► recolor ─► normalize ─► result
//	           taps            taps                    levels      numbers
//
// A program may begin with a JPEG ([Coded]), whose planes the processor decodes into buffers before
// the first operation.
//
// A program works in buffers, most of which hold images. Where samples are in them is a [View], so
// that flips, crops and quarter turns cost nothing: they are other views of the same memory.
//
// gpu/kernels/raster.h has [Op] for C; gpu/kernels/raster.cu carries it out.
package raster
