#include "fake.h"

#include <cstring>

EXPORT CUresult cuMemGetInfo(size_t *free, size_t *total) {
	ENTER_CONTEXT(cuMemGetInfo);
	*total = (size_t)setting("MEMORY", 1 << 30);
	*free = *total - std::min(*total, used(device_memory));
	return CUDA_SUCCESS;
}

EXPORT CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
	ENTER_CONTEXT(cuMemAlloc);
	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	*address = allocate(device_memory, bytes);
	return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemFree(CUdeviceptr address) {
	ENTER_CONTEXT(cuMemFree);
	return release(device_memory, address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
	ENTER_CONTEXT(cuMemHostAlloc);
	(void)flags;
	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	*address = (void *)allocate(pinned_memory, bytes);
	return *address != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemFreeHost(void *address) {
	ENTER_CONTEXT(cuMemFreeHost);
	return release(pinned_memory, (uintptr_t)address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Copies look whether the memory is there when they are asked for, and again when
// they happen.
static CUresult copy(CUstream stream, Kind to_kind, uintptr_t to, Kind from_kind, uintptr_t from, size_t bytes) {
	if (!holds(to_kind, to, bytes) || !holds(from_kind, from, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return enqueue(stream, [=] {
		if (!holds(to_kind, to, bytes) || !holds(from_kind, from, bytes))
			return CUDA_ERROR_ILLEGAL_ADDRESS;
		memmove((void *)to, (const void *)from, bytes);
		return CUDA_SUCCESS;
	});
}

EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
	ENTER_CONTEXT(cuMemcpyHtoDAsync);
	return copy(stream, device_memory, to, pinned_memory, (uintptr_t)from, bytes);
}

EXPORT CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
	ENTER_CONTEXT(cuMemcpyDtoHAsync);
	return copy(stream, pinned_memory, (uintptr_t)to, device_memory, from, bytes);
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
	ENTER_CONTEXT(cuMemsetD8Async);
	if (!holds(device_memory, to, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return enqueue(stream, [=] {
		if (!holds(device_memory, to, bytes))
			return CUDA_ERROR_ILLEGAL_ADDRESS;
		memset((void *)to, value, bytes);
		return CUDA_SUCCESS;
	});
}
