#include "fake.h"

#include <cstring>

// One GPU may be open at a time as a context; a second one is another number of
// the same, since nothing in the tests asks for two.
static const int most_devices = 8;
static const CUcontext contexts[most_devices] = {(CUcontext)0x10, (CUcontext)0x20, (CUcontext)0x30, (CUcontext)0x40,
						 (CUcontext)0x50, (CUcontext)0x60, (CUcontext)0x70, (CUcontext)0x80};
static int retained[most_devices];
static unsigned context_flags[most_devices];
static CUresult lost_by = CUDA_SUCCESS;
static size_t leaked;
static bool initialized;
static thread_local CUcontext current;

void forget_modules();
size_t modules();
int64_t launches();
int64_t objects();
int64_t nvjpeg_allocations();
bool nvjpeg_used();

static int devices() { return (int)std::min<long long>(setting("DEVICES", 1), most_devices); }

static CUresult initialized_device(CUdevice device) {
	if (!initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	return device >= 0 && device < devices() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static int open_contexts() {
	int n = 0;
	for (int r : retained)
		n += r > 0;
	return n;
}

static int64_t retains() {
	int64_t n = 0;
	for (int r : retained)
		n += r;
	return n;
}

CUresult usable() {
	if (!initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (lost_by != CUDA_SUCCESS)
		return lost_by;
	for (int i = 0; i < most_devices; i++)
		if (current == contexts[i])
			return retained[i] > 0 ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return CUDA_ERROR_INVALID_CONTEXT;
}

bool sleeping_context() {
	for (int i = 0; i < most_devices; i++)
		if (current == contexts[i])
			return (context_flags[i] & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_BLOCKING_SYNC;
	return false;
}

CUresult lose(CUresult why) { return lost_by = why; }
bool lost() { return lost_by != CUDA_SUCCESS; }

EXPORT CUresult cuInit(unsigned flags) {
	ENTER(cuInit);
	(void)flags;
	if (devices() == 0)
		return CUDA_ERROR_NO_DEVICE;
	initialized = true;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *version) {
	ENTER(cuDriverGetVersion);
	*version = (int)setting("DRIVER", 12020);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *count) {
	ENTER(cuDeviceGetCount);
	*count = devices();
	return initialized ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
	ENTER(cuDeviceGet);
	*device = ordinal;
	return initialized_device(ordinal);
}

EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
	ENTER(cuDeviceGetName);
	snprintf(name, (size_t)length, "tfrec's fake GPU %d%s", device, setting("MIG", 0) != 0 ? " MIG 1g.10gb" : "");
	return initialized_device(device);
}

EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
	ENTER(cuDeviceGetUuid);
	for (int i = 0; i < 16; i++)
		uuid->bytes[i] = (char)(device * 16 + i);
	return initialized_device(device);
}

// With FAKECUDA_MIG the GPUs are slices, which have names and UUIDs of their own.
EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
	ENTER(cuDeviceGetUuid_v2);
	for (int i = 0; i < 16; i++)
		uuid->bytes[i] = (char)(device * 16 + i + (setting("MIG", 0) != 0 ? 100 : 0));
	return initialized_device(device);
}

EXPORT CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
	ENTER(cuDeviceTotalMem);
	*bytes = (size_t)setting("MEMORY", 1 << 30);
	return initialized_device(device);
}

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
	ENTER(cuDeviceGetAttribute);
	int capability = (int)setting("CAPABILITY", 90);
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = capability / 10; break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = capability % 10; break;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 4; break;
	case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: *value = 2; break;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
	return initialized_device(device);
}

// With FAKECUDA_ACTIVE another library has made the context, with these flags.
EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
	ENTER(cuDevicePrimaryCtxGetState);
	if (CUresult answer = initialized_device(device); answer != CUDA_SUCCESS)
		return answer;
	long long others = setting("ACTIVE", -1);
	if (others >= 0)
		context_flags[device] = (unsigned)others;
	*flags = context_flags[device];
	*active = retained[device] > 0 || others >= 0;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
	ENTER(cuDevicePrimaryCtxSetFlags);
	if (CUresult answer = initialized_device(device); answer != CUDA_SUCCESS)
		return answer;
	if (retained[device] > 0 || setting("ACTIVE", -1) >= 0)
		return CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
	context_flags[device] = flags;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
	ENTER(cuDevicePrimaryCtxRetain);
	if (CUresult answer = initialized_device(device); answer != CUDA_SUCCESS)
		return answer;
	retained[device]++;
	*context = contexts[device];
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
	ENTER(cuDevicePrimaryCtxRelease);
	if (CUresult answer = initialized_device(device); answer != CUDA_SUCCESS)
		return answer;
	if (retained[device] == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	retained[device]--;
	if (open_contexts() == 0) {
		size_t left = streams() + events() + modules() + release_all(device_memory) + release_all(pinned_memory);
		if (!lost())
			leaked += left;
		forget_streams();
		forget_modules();
		lost_by = CUDA_SUCCESS;
	}
	return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
	ENTER(cuCtxSetCurrent);
	current = context;
	return initialized ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

EXPORT CUresult cuGetErrorName(CUresult code, const char **name) {
	std::lock_guard<std::recursive_mutex> held(everything);
#define NAME(code) case code: *name = #code; return CUDA_SUCCESS;
	switch (code) {
	NAME(CUDA_SUCCESS)
	NAME(CUDA_ERROR_INVALID_VALUE)
	NAME(CUDA_ERROR_OUT_OF_MEMORY)
	NAME(CUDA_ERROR_NOT_INITIALIZED)
	NAME(CUDA_ERROR_NO_DEVICE)
	NAME(CUDA_ERROR_INVALID_DEVICE)
	NAME(CUDA_ERROR_INVALID_CONTEXT)
	NAME(CUDA_ERROR_NO_BINARY_FOR_GPU)
	NAME(CUDA_ERROR_INVALID_PTX)
	NAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
	NAME(CUDA_ERROR_INVALID_HANDLE)
	NAME(CUDA_ERROR_NOT_FOUND)
	NAME(CUDA_ERROR_NOT_READY)
	NAME(CUDA_ERROR_ILLEGAL_ADDRESS)
	NAME(CUDA_ERROR_LAUNCH_FAILED)
	NAME(CUDA_ERROR_UNKNOWN)
	default: return CUDA_ERROR_INVALID_VALUE;
	}
#undef NAME
}

// For package fakecuda: what is alive, what was left to contexts that ended, how
// many kernels ran, how many objects of the fake nvJPEG are alive, how often somebody waited, how
// often that kept a processor busy, the flags of the first GPU's context, how often the fake nvJPEG
// allocated memory for batches, how often contexts are retained, and whether nvJPEG was used.
EXPORT void fakecuda_counts(int64_t counts[15]) {
	std::lock_guard<std::recursive_mutex> held(everything);
	const int64_t now[15] = {(int64_t)allocations(device_memory), (int64_t)allocations(pinned_memory), (int64_t)streams(),
				(int64_t)events(), (int64_t)modules(), open_contexts(), (int64_t)leaked, launches(), objects(),
				 waits(), spinning_waits(), context_flags[0], nvjpeg_allocations(), retains(), nvjpeg_used()};
	memcpy(counts, now, sizeof now);
}
