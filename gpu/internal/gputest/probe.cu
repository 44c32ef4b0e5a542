// Kernels for the tests of the runtime: what they do can be told without them.
#ifndef __CUDACC_RTC__
#define __global__
static struct {
	unsigned x, y, z;
} threadIdx, blockIdx, blockDim, gridDim;
#endif

// to[i] = from[i] * factor + offset for i < count, with a parameter of every kind.
extern "C" __global__ void probe_affine(const int *from, int *to, unsigned long long count, int factor, float offset) {
	unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		to[i] = from[i] * factor + (int)offset;
}

// to[place of the thread in the grid, x fastest] = x | y << 8 | z << 16 of the
// thread, counted over all blocks.
extern "C" __global__ void probe_place(unsigned *to) {
	unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
	to[(z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x] = x | y << 8 | z << 16;
}

// Adds to the count bytes from the place of which tables[which] is the address: an
// address that lies in device memory itself.
extern "C" __global__ void probe_through(unsigned char *const *tables, unsigned which, unsigned long long count, unsigned char add) {
	unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		tables[which][i] += add;
}
