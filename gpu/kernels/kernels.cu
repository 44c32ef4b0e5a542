// The kernels that carry out internal/codec/raster's operations: each thread makes one
// pixel, or one sample, of one of many operations, which may be of pictures of
// different sizes. No barriers, no shared memory, nothing but integers where
// the CPU has integers, and elsewhere IEEE arithmetic without contraction, so
// that the bytes are the CPU's.
//
// Every kernel takes operations of its kind, and how many.

#include "raster.h"

#include "resize.cuh"
#include "color.cuh"
#include "turn.cuh"
#include "spread.cuh"

// TFREC_KERNELS lists them.
#define TFREC_KERNELS(X) \
	X(weigh) X(pick) X(convert) X(paint) X(recolor) X(sum) X(count) X(levels) X(turn) X(sharpen) X(blur) X(noise) X(normalize)
