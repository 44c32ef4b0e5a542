// What load.c offers to the Go side. The types are our own: this package needs
// no header of NVIDIA's.

enum {
	LIBCUDA_READY = 0,
	LIBCUDA_ABSENT = 1, // no such library, or not one that can be loaded
	LIBCUDA_FAILED = 2, // its cuInit failed
	LIBCUDA_OLD = 3,    // it lacks a function that is needed
};

typedef struct {
	int outcome;     // one of the above
	int code;        // with LIBCUDA_FAILED, what cuInit answered
	char detail[256]; // with LIBCUDA_ABSENT what the loader said, with LIBCUDA_OLD the function
} libcuda_result;

// libcuda_load loads the driver, unless that was done. Calls must not overlap.
void libcuda_load(libcuda_result *r);

// libcuda_host_alloc is cuMemHostAlloc for memory that all contexts may use.
int libcuda_host_alloc(void **p, unsigned long bytes);

// libcuda_slice_uuid is cuDeviceGetUuid_v2, which drivers before 470 lack.
int libcuda_slice_uuid(unsigned char uuid[16], int device);

// libcuda_error_name is the name of an error, or NULL.
const char *libcuda_error_name(int code);

// libcuda_video loads the driver's library for video, without which nvJPEG does not reach the GPU's
// JPEG decoder. It returns 0, or 1 and what the loader said.
int libcuda_video(char *why, unsigned long size);
