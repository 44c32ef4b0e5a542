// The operations of internal/codec/raster for C, and how a thread finds its own. The
// layout of View and Op is that of the Go types of the same names.

#ifndef TFREC_RASTER_H
#define TFREC_RASTER_H

#ifdef __CUDACC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
// ROLLED is before a loop that takes fewer registers, and so lets more threads run, as it is.
#define ROLLED _Pragma("unroll 1")
#else
#include "host.h"
#endif

// What CUDA's atomicAdd takes for 64 bits.
typedef unsigned long long wide_t;

struct View {
	uint8_t *at;
	int32_t stride, step;
};

struct Op {
	uint32_t kind;
	int32_t channels;
	int32_t width, height;
	View src[3];
	View dst;
	const uint8_t *table[2];
	int64_t arg[13];
	double real[6];
	int64_t begin;
};

static_assert(sizeof(View) == 16 && sizeof(Op) == 256, "the layout of internal/codec/raster");

// THREADS is how many threads a block has.
#define THREADS 256

static __device__ __forceinline__ uint8_t *pixel(const View &v, int x, int y) {
	return v.at + (int64_t)y * v.stride + (int64_t)x * v.step;
}

// find returns the operation that a thread belongs to, and its place in it: of
// count operations, each has blocks of its own from begin on. Beyond its last
// thread there is none.
static __device__ __forceinline__ const Op *find(const Op *ops, uint64_t count, int *x, int *y) {
	uint32_t block = blockIdx.x, lo = 0, hi = (uint32_t)count - 1;
	while (lo < hi) {
		uint32_t middle = (lo + hi + 1) / 2;
		if ((uint64_t)ops[middle].begin <= block) {
			lo = middle;
		} else {
			hi = middle - 1;
		}
	}
	const Op *op = ops + lo;
	uint32_t thread = (uint32_t)(block - (uint32_t)op->begin) * THREADS + threadIdx.x;
	uint32_t width = op->width;
	if (thread >= width * (uint32_t)op->height) {
		return 0;
	}
	*y = thread / width;
	*x = thread % width;
	return op;
}

static __device__ __forceinline__ int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

static __device__ __forceinline__ uint8_t clip(int v) { return (uint8_t)clamp(v, 0, 255); }

// luminance is augment's, which is Pillow's.
static __device__ __forceinline__ uint8_t luminance(uint8_t r, uint8_t g, uint8_t b) {
	return (uint8_t)((19595u * r + 38470u * g + 7471u * b + (1u << 15)) >> 16);
}

// mix is augment's blender, which is Pillow's Image.blend: the product is rounded, then the sum,
// and the fraction cut off. The file is compiled without contraction.
static __device__ __forceinline__ uint8_t mix(uint8_t a, uint8_t b, float factor) {
	float part = factor * (float)((int)b - (int)a);
	return clip((int)((float)a + part));
}

#endif
