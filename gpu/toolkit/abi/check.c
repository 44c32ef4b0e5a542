// Holds native.c to NVIDIA's nvJPEG: the numbers and structures that it writes down itself to the
// header, its table of functions to a library, which is the first argument. No GPU is needed.
// Further arguments are files, of which it prints what the library makes of their headers: what
// nvjpegJpegStreamParseHeader and nvjpegJpegStreamParse answer, width and height, and the name.
#include "../../internal/nvjpeg/native.c"

#include <nvjpeg.h>

#define SAME(a, b) _Static_assert((int)(a) == (int)(b), #a " is not " #b)
#define PLACE(ours, theirs) \
	_Static_assert(offsetof(native_image, ours) == offsetof(nvjpegImage_t, theirs), #ours " is not at " #theirs)

_Static_assert(sizeof(native_image) == sizeof(nvjpegImage_t), "native_image");
_Static_assert(NVJPEG_MAX_COMPONENT == 4, "NVJPEG_MAX_COMPONENT");
_Static_assert(sizeof(nvjpegBackend_t) == sizeof(int) && sizeof(nvjpegStatus_t) == sizeof(int) &&
		       sizeof(nvjpegOutputFormat_t) == sizeof(int) && sizeof(libraryPropertyType) == sizeof(int),
	       "an enumeration is no int");
PLACE(channel, channel);
PLACE(pitch, pitch);
SAME(backend_default, NVJPEG_BACKEND_DEFAULT);
SAME(backend_hardware, NVJPEG_BACKEND_HARDWARE);
SAME(invalid_parameter, NVJPEG_STATUS_INVALID_PARAMETER);
SAME(allocator_failure, NVJPEG_STATUS_ALLOCATOR_FAILURE);
SAME(implementation_lacks, NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED);
SAME(format_luma, NVJPEG_OUTPUT_Y);
SAME(sampling_444, NVJPEG_CSS_444);
SAME(sampling_gray, NVJPEG_CSS_GRAY);
SAME(flag_memory_pools, (NVJPEG_FLAGS_ENABLE_MEMORY_POOLS));
// The functions that are optional there have the types of the header.
#define TYPE(name, ...) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&nvjpeg##name), nvjpegStatus_t (*)(__VA_ARGS__)), #name)
TYPE(JpegStreamParseHeader, nvjpegHandle_t, const unsigned char *, size_t, nvjpegJpegStream_t);
TYPE(DecodeBatchedPreAllocate, nvjpegHandle_t, nvjpegJpegState_t, int, int, int, nvjpegChromaSubsampling_t, nvjpegOutputFormat_t);
// Those of nvjpeg.go and native_cuda.go.
SAME(3, NVJPEG_BACKEND_HARDWARE);
SAME(2, NVJPEG_BACKEND_GPU_HYBRID);
SAME(1, NVJPEG_BACKEND_HYBRID);
SAME(1, NVJPEG_OUTPUT_YUV);
SAME(0, NVJPEG_STATUS_SUCCESS);
SAME(1, NVJPEG_STATUS_NOT_INITIALIZED);
SAME(2, NVJPEG_STATUS_INVALID_PARAMETER);
SAME(3, NVJPEG_STATUS_BAD_JPEG);
SAME(4, NVJPEG_STATUS_JPEG_NOT_SUPPORTED);
SAME(5, NVJPEG_STATUS_ALLOCATOR_FAILURE);
SAME(6, NVJPEG_STATUS_EXECUTION_FAILED);
SAME(7, NVJPEG_STATUS_ARCH_MISMATCH);
SAME(8, NVJPEG_STATUS_INTERNAL_ERROR);
SAME(9, NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED);
SAME(10, NVJPEG_STATUS_INCOMPLETE_BITSTREAM);
SAME(0, MAJOR_VERSION);
SAME(1, MINOR_VERSION);
SAME(2, PATCH_LEVEL);

// parse prints what the library makes of the headers of files. Without a driver there is no handle;
// the parsers, which need nothing of it, take memory that stands for one.
static int parse(const native_library *l, int n, char **files) {
	static unsigned char data[16 << 20];
	void *handle = calloc(1, 1 << 16), *jpeg;
	if (handle == NULL || l->JpegStreamCreate(handle, &jpeg) != 0) {
		fprintf(stderr, "nvjpegJpegStreamCreate fails\n");
		return 1;
	}
	for (int i = 0; i < n; i++) {
		FILE *f = fopen(files[i], "rb");
		if (f == NULL) {
			perror(files[i]);
			return 1;
		}
		size_t size = fread(data, 1, sizeof data, f);
		fclose(f);
		unsigned width = 0, height = 0;
		int header = l->JpegStreamParseHeader(handle, data, size, jpeg);
		if (header == 0)
			l->JpegStreamGetFrameDimensions(jpeg, &width, &height);
		int whole = l->JpegStreamParse(handle, data, size, 0, 0, jpeg);
		printf("%d %d %u %u %s\n", header, whole, width, height, files[i]);
	}
	return 0;
}

int main(int arguments, char **argument) {
	if (arguments < 2) {
		fprintf(stderr, "usage: %s LIBRARY [FILE...]\n", argument[0]);
		return 2;
	}
	char why[256];
	native_library *l = native_open(argument[1], why, sizeof why);
	if (l == NULL) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	int version[3];
	if (native_version(l, version) != 0 || version[0] != NVJPEG_VER_MAJOR || version[1] != NVJPEG_VER_MINOR) {
		fprintf(stderr, "%s does not report the header's version, %d.%d\n", argument[1], NVJPEG_VER_MAJOR, NVJPEG_VER_MINOR);
		return 1;
	}
	if (l->JpegStreamParseHeader == NULL || l->DecodeBatchedPreAllocate == NULL) {
		fprintf(stderr, "%s lacks an optional function\n", argument[1]);
		return 1;
	}
	if (arguments > 2)
		return parse(l, arguments - 2, argument + 2);
	// Without a driver there is no decoder, but an answer.
	const int backends[] = {1, 2, 3};
	for (size_t b = 0; b < sizeof backends / sizeof *backends; b++) {
		native_handle *h;
		int s = native_create(l, backends[b], &h);
		if (s == 0)
			native_destroy(h);
		else if (s < 0 || s > NVJPEG_STATUS_INCOMPLETE_BITSTREAM) {
			fprintf(stderr, "%s answers %d\n", argument[1], s);
			return 1;
		}
	}
	return 0;
}
