// The words of CUDA for an ordinary C++ compiler, with which the fake driver is
// built: it sets the indexes and calls a kernel for one thread after the other.

#ifndef TFREC_HOST_H
#define TFREC_HOST_H

#include <stdint.h>

#define __global__
#define __device__
#define __launch_bounds__(...)
#define ROLLED
#define __forceinline__ inline __attribute__((always_inline))

struct dim3 {
	unsigned x, y, z;
};

static dim3 gridDim, blockDim, blockIdx, threadIdx;

template <typename T, typename U>
static inline T atomicAdd(T *at, U value) {
	T old = *at;
	*at = old + (T)value;
	return old;
}

#endif
