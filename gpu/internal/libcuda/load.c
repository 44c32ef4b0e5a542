//go:build cuda && linux && amd64 && cgo

#include "load.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// From table_amd64.S: the slots, and the names of the functions that they
// belong to, which end with NULL.
extern void *libcuda_slots[] __attribute__((visibility("hidden")));
extern const char *const libcuda_names[] __attribute__((visibility("hidden")));
extern int libcuda_not_found(void) __attribute__((visibility("hidden")));
extern int cuMemHostAlloc(void **p, size_t bytes, unsigned flags) __attribute__((visibility("hidden")));
extern int cuDeviceGetUuid_v2(unsigned char *uuid, int device) __attribute__((visibility("hidden")));
extern int cuGetErrorName(int code, const char **name) __attribute__((visibility("hidden")));

// Without these nothing works. All others of the table are those of cu that are
// not called.
static const char *const needed[] = {
	"cuCtxSetCurrent", "cuDeviceGet", "cuDeviceGetAttribute", "cuDeviceGetCount", "cuDeviceGetName",
	"cuDeviceGetUuid", "cuDevicePrimaryCtxGetState", "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRetain",
	"cuDevicePrimaryCtxSetFlags_v2", "cuDeviceTotalMem_v2",
	"cuDriverGetVersion", "cuEventCreate", "cuEventDestroy_v2", "cuEventElapsedTime", "cuEventQuery", "cuEventRecord",
	"cuEventSynchronize", "cuGetErrorName", "cuLaunchKernel", "cuMemAlloc_v2", "cuMemFreeHost", "cuMemFree_v2",
	"cuMemGetInfo_v2", "cuMemHostAlloc", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2", "cuMemsetD8Async", "cuModuleGetFunction",
	"cuModuleLoadData", "cuModuleUnload", "cuStreamCreate", "cuStreamDestroy_v2",
};

static void *library;
static int ready;

// cu calls this one before main.
__attribute__((visibility("hidden"))) int cuInit(unsigned flags) {
	(void)flags;
	return 0;
}

void libcuda_load(libcuda_result *r) {
	memset(r, 0, sizeof *r);
	if (ready)
		return;
	// Never unloaded: the driver leaves threads behind.
	if (library == NULL)
		library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		const char *why = dlerror();
		r->outcome = LIBCUDA_ABSENT;
		snprintf(r->detail, sizeof r->detail, "%s", why != NULL ? why : "dlopen failed");
		return;
	}
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		if (dlsym(library, needed[i]) == NULL) {
			r->outcome = LIBCUDA_OLD;
			snprintf(r->detail, sizeof r->detail, "%s", needed[i]);
			return;
		}
	}
	int (*init)(unsigned) = (int (*)(unsigned))dlsym(library, "cuInit");
	r->code = init != NULL ? init(0) : 500;
	if (r->code != 0) {
		r->outcome = LIBCUDA_FAILED;
		return;
	}
	for (size_t i = 0; libcuda_names[i] != NULL; i++) {
		void *f = dlsym(library, libcuda_names[i]);
		libcuda_slots[i] = f != NULL ? f : (void *)libcuda_not_found;
	}
	ready = 1;
}

int libcuda_host_alloc(void **p, unsigned long bytes) {
	enum { portable = 1 }; // CU_MEMHOSTALLOC_PORTABLE
	return cuMemHostAlloc(p, bytes, portable);
}

int libcuda_slice_uuid(unsigned char uuid[16], int device) { return cuDeviceGetUuid_v2(uuid, device); }

const char *libcuda_error_name(int code) {
	const char *name = NULL;
	return cuGetErrorName(code, &name) == 0 ? name : NULL;
}

int libcuda_video(char *why, unsigned long size) {
	// Never unloaded, like the driver.
	if (dlopen("libnvcuvid.so.1", RTLD_LAZY | RTLD_LOCAL) != NULL)
		return 0;
	const char *said = dlerror();
	snprintf(why, size, "%s", said != NULL ? said : "dlopen failed");
	return 1;
}
