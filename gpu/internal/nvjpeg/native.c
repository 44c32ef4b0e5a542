//go:build cuda && linux && amd64 && cgo

#include "native.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { backend_default = 0, backend_hardware = 3 };
enum { invalid_parameter = 2, allocator_failure = 5, implementation_lacks = 9 };
enum { format_luma = 2 };
enum { sampling_444 = 0, sampling_gray = 6 };
enum { flag_memory_pools = 2 };

struct native_library {
	int (*GetProperty)(int type, int *value);
	int (*CreateEx)(int backend, void *device_allocator, void *pinned_allocator, unsigned flags, void **handle);
	int (*Destroy)(void *handle);
	int (*JpegStateCreate)(void *handle, void **state);
	int (*JpegStateDestroy)(void *state);
	int (*BufferPinnedCreate)(void *handle, void *allocator, void **buffer);
	int (*BufferPinnedDestroy)(void *buffer);
	int (*BufferDeviceCreate)(void *handle, void *allocator, void **buffer);
	int (*BufferDeviceDestroy)(void *buffer);
	int (*StateAttachPinnedBuffer)(void *state, void *buffer);
	int (*StateAttachDeviceBuffer)(void *state, void *buffer);
	int (*JpegStreamCreate)(void *handle, void **jpeg);
	int (*JpegStreamDestroy)(void *jpeg);
	int (*JpegStreamParse)(void *handle, const unsigned char *data, size_t size, int metadata, int stream, void *jpeg);
	int (*JpegStreamParseHeader)(void *handle, const unsigned char *data, size_t size, void *jpeg); // or NULL
	int (*JpegStreamGetFrameDimensions)(void *jpeg, unsigned *width, unsigned *height);
	int (*JpegStreamGetComponentsNum)(void *jpeg, unsigned *components);
	int (*JpegStreamGetComponentDimensions)(void *jpeg, unsigned component, unsigned *width, unsigned *height);
	int (*DecodeParamsCreate)(void *handle, void **parameters);
	int (*DecodeParamsDestroy)(void *parameters);
	int (*DecodeParamsSetOutputFormat)(void *parameters, int format);
	int (*DecoderCreate)(void *handle, int backend, void **decoder);
	int (*DecoderDestroy)(void *decoder);
	int (*DecoderStateCreate)(void *handle, void *decoder, void **state);
	int (*DecoderJpegSupported)(void *decoder, void *jpeg, void *parameters, int *unsupported);
	int (*DecodeJpeg)(void *handle, void *decoder, void *state, void *jpeg, native_image *to, void *parameters, void *stream);
	int (*DecodeBatchedSupported)(void *handle, void *jpeg, int *unsupported);
	int (*DecodeBatchedInitialize)(void *handle, void *state, int size, int threads, int format);
	int (*DecodeBatchedPreAllocate)(void *handle, void *state, int size, int width, int height, int sampling, int format); // or NULL
	int (*DecodeBatched)(void *handle, void *state, const unsigned char *const *data, const size_t *sizes, native_image *to, void *stream);
};

static const struct {
	const char *name;
	size_t offset;
	int optional; // older libraries lack it
} functions[] = {
#define FUNCTION(name) {"nvjpeg" #name, offsetof(native_library, name), 0}
#define OPTIONAL(name) {"nvjpeg" #name, offsetof(native_library, name), 1}
	FUNCTION(GetProperty),
	FUNCTION(CreateEx),
	FUNCTION(Destroy),
	FUNCTION(JpegStateCreate),
	FUNCTION(JpegStateDestroy),
	FUNCTION(BufferPinnedCreate),
	FUNCTION(BufferPinnedDestroy),
	FUNCTION(BufferDeviceCreate),
	FUNCTION(BufferDeviceDestroy),
	FUNCTION(StateAttachPinnedBuffer),
	FUNCTION(StateAttachDeviceBuffer),
	FUNCTION(JpegStreamCreate),
	FUNCTION(JpegStreamDestroy),
	FUNCTION(JpegStreamParse),
	OPTIONAL(JpegStreamParseHeader),
	FUNCTION(JpegStreamGetFrameDimensions),
	FUNCTION(JpegStreamGetComponentsNum),
	FUNCTION(JpegStreamGetComponentDimensions),
	FUNCTION(DecodeParamsCreate),
	FUNCTION(DecodeParamsDestroy),
	FUNCTION(DecodeParamsSetOutputFormat),
	FUNCTION(DecoderCreate),
	FUNCTION(DecoderDestroy),
	FUNCTION(DecoderStateCreate),
	FUNCTION(DecoderJpegSupported),
	FUNCTION(DecodeJpeg),
	FUNCTION(DecodeBatchedSupported),
	FUNCTION(DecodeBatchedInitialize),
	OPTIONAL(DecodeBatchedPreAllocate),
	FUNCTION(DecodeBatched),
#undef FUNCTION
#undef OPTIONAL
};

native_library *native_open(const char *name, char *why, size_t size) {
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		const char *reason = dlerror();
		snprintf(why, size, "%s", reason != NULL ? reason : "dlopen failed");
		return NULL;
	}
	native_library *l = malloc(sizeof *l);
	if (l == NULL) {
		snprintf(why, size, "no memory for %s", name);
		return NULL;
	}
	for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
		void *function = dlsym(library, functions[f].name);
		if (function == NULL && !functions[f].optional) {
			snprintf(why, size, "%s has no %s", name, functions[f].name);
			free(l);
			return NULL;
		}
		*(void **)((char *)l + functions[f].offset) = function;
	}
	return l;
}

int native_version(const native_library *l, int version[3]) {
	for (int i = 0; i < 3; i++) {
		int s = l->GetProperty(i, &version[i]);
		if (s != 0)
			return s;
	}
	return 0;
}

// The chip's decoder takes batches with a state alone, of colour with that of the first slot and of
// gray with that of the second; the others take a picture at a time, with all the rest.
struct native_handle {
	const native_library *nvjpeg;
	int backend;
	void *handle, *decoder, *parameters;
	struct {
		void *jpeg, *state, *pinned, *device;
	} slots[native_slots];
};

// fill makes what a slot of a backend needs that takes a picture at a time.
static int fill(native_handle *h, int slot) {
	int s = h->nvjpeg->JpegStreamCreate(h->handle, &h->slots[slot].jpeg);
	if (s == 0)
		s = h->nvjpeg->DecoderStateCreate(h->handle, h->decoder, &h->slots[slot].state);
	if (s == 0)
		s = h->nvjpeg->BufferPinnedCreate(h->handle, NULL, &h->slots[slot].pinned);
	if (s == 0)
		s = h->nvjpeg->BufferDeviceCreate(h->handle, NULL, &h->slots[slot].device);
	if (s == 0)
		s = h->nvjpeg->StateAttachPinnedBuffer(h->slots[slot].state, h->slots[slot].pinned);
	if (s == 0)
		s = h->nvjpeg->StateAttachDeviceBuffer(h->slots[slot].state, h->slots[slot].device);
	return s;
}

int native_create(const native_library *l, int backend, native_handle **handle) {
	native_handle *h = calloc(1, sizeof *h);
	if (h == NULL)
		return allocator_failure;
	h->nvjpeg = l;
	h->backend = backend;
	int create = backend == backend_hardware ? backend : backend_default;
	int s = h->nvjpeg->CreateEx(create, NULL, NULL, flag_memory_pools, &h->handle);
	if (s == invalid_parameter) // an older library, which does not know the flag
		s = h->nvjpeg->CreateEx(create, NULL, NULL, 0, &h->handle);
	if (backend == backend_hardware) {
		if (s == 0)
			s = h->nvjpeg->JpegStreamCreate(h->handle, &h->slots[0].jpeg);
		for (int i = 0; s == 0 && i < native_slots; i++)
			s = h->nvjpeg->JpegStateCreate(h->handle, &h->slots[i].state);
	} else {
		if (s == 0)
			s = h->nvjpeg->DecoderCreate(h->handle, backend, &h->decoder);
		if (s == 0)
			s = h->nvjpeg->DecodeParamsCreate(h->handle, &h->parameters);
		for (int i = 0; s == 0 && i < native_slots; i++)
			s = fill(h, i);
	}
	if (s != 0) {
		native_destroy(h);
		return s;
	}
	*handle = h;
	return 0;
}

void native_destroy(native_handle *h) {
	if (h->parameters != NULL)
		h->nvjpeg->DecodeParamsDestroy(h->parameters);
	for (int i = 0; i < native_slots; i++) {
		if (h->slots[i].jpeg != NULL)
			h->nvjpeg->JpegStreamDestroy(h->slots[i].jpeg);
		if (h->slots[i].state != NULL)
			h->nvjpeg->JpegStateDestroy(h->slots[i].state);
		if (h->slots[i].device != NULL)
			h->nvjpeg->BufferDeviceDestroy(h->slots[i].device);
		if (h->slots[i].pinned != NULL)
			h->nvjpeg->BufferPinnedDestroy(h->slots[i].pinned);
	}
	if (h->decoder != NULL)
		h->nvjpeg->DecoderDestroy(h->decoder);
	if (h->handle != NULL)
		h->nvjpeg->Destroy(h->handle);
	free(h);
}

int native_parse(native_handle *h, int slot, const unsigned char *data, size_t size, unsigned info[9]) {
	void *jpeg = h->slots[slot].jpeg;
	int s;
	if (h->backend == backend_hardware && h->nvjpeg->JpegStreamParseHeader != NULL)
		s = h->nvjpeg->JpegStreamParseHeader(h->handle, data, size, jpeg);
	else
		s = h->nvjpeg->JpegStreamParse(h->handle, data, size, 0, 0, jpeg);
	if (s == 0)
		s = h->nvjpeg->JpegStreamGetFrameDimensions(jpeg, &info[0], &info[1]);
	if (s == 0)
		s = h->nvjpeg->JpegStreamGetComponentsNum(jpeg, &info[2]);
	for (unsigned i = 0; s == 0 && i < info[2] && i < 3; i++)
		s = h->nvjpeg->JpegStreamGetComponentDimensions(jpeg, i, &info[3 + 2 * i], &info[4 + 2 * i]);
	return s;
}

int native_supports(native_handle *h, int slot, int format, int *takes) {
	int unsupported = 1, s;
	if (h->backend == backend_hardware) {
		s = h->nvjpeg->DecodeBatchedSupported(h->handle, h->slots[slot].jpeg, &unsupported);
	} else {
		s = h->nvjpeg->DecodeParamsSetOutputFormat(h->parameters, format);
		if (s == 0)
			s = h->nvjpeg->DecoderJpegSupported(h->decoder, h->slots[slot].jpeg, h->parameters, &unsupported);
	}
	*takes = unsupported == 0;
	return s;
}

int native_decode(native_handle *h, int slot, native_image *to, int format, void *stream) {
	int s = h->nvjpeg->DecodeParamsSetOutputFormat(h->parameters, format);
	return s != 0 ? s : h->nvjpeg->DecodeJpeg(h->handle, h->decoder, h->slots[slot].state, h->slots[slot].jpeg, to, h->parameters, stream);
}

int native_reserve(native_handle *h, int n, int width, int height, int format) {
	int gray = format == format_luma;
	if (h->nvjpeg->DecodeBatchedPreAllocate == NULL)
		return implementation_lacks;
	return h->nvjpeg->DecodeBatchedPreAllocate(h->handle, h->slots[gray].state, n, width, height,
						   gray ? sampling_gray : sampling_444, format);
}

int native_decode_batch(native_handle *h, int n, const unsigned char *const *data, const size_t *sizes, native_image *to, int format,
			void *stream) {
	void *state = h->slots[format == format_luma].state;
	// Each time, since it clears what a batch that failed left behind.
	int s = h->nvjpeg->DecodeBatchedInitialize(h->handle, state, n, 1, format);
	return s != 0 ? s : h->nvjpeg->DecodeBatched(h->handle, state, data, sizes, to, stream);
}
