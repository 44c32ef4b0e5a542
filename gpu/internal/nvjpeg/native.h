// nvJPEG's functions as native.c finds them. The types are our own, after the
// documentation of nvJPEG 12.2: handles are pointers, enumerations are int. Statuses
// are nvjpegStatus_t.

#include <stddef.h>

// nvjpegImage_t.
typedef struct {
	unsigned char *channel[4];
	size_t pitch[4];
} native_image;

// native_library is the functions of one library. Libraries are never unloaded, as the CUDA in them
// leaves threads behind, and neither is this ever freed.
typedef struct native_library native_library;

// native_open loads a library by the name of its file. It returns NULL and why not where it does
// not load, or lacks a function.
native_library *native_open(const char *name, char *why, size_t size);

// native_version fills in major, minor and patch.
int native_version(const native_library *l, int version[3]);

// native_handle is what one backend needs on one stream. The chip's decoder has one slot, and a batch
// of colour and one of gray in flight; the others have native_slots, each of which is in use from
// native_decode on until the stream was waited for.
typedef struct native_handle native_handle;
enum { native_slots = 2 };

int native_create(const native_library *l, int backend, native_handle **handle);
void native_destroy(native_handle *h);

// native_parse reads a header: width, height, components, and width and height of
// each of three components. The data must stay. For the chip's decoder, which parses them itself, no
// tables and scans are looked at.
int native_parse(native_handle *h, int slot, const unsigned char *data, size_t size, unsigned info[9]);
int native_supports(native_handle *h, int slot, int format, int *takes);
int native_decode(native_handle *h, int slot, native_image *to, int format, void *stream);
// native_reserve allocates what batches of n pictures up to a size need.
int native_reserve(native_handle *h, int n, int width, int height, int format);
int native_decode_batch(native_handle *h, int n, const unsigned char *const *data, const size_t *sizes, native_image *to, int format,
			void *stream);
