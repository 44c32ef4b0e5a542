// A fake nvJPEG. It reads headers, as far as tests need them, and makes of each
// picture a pattern of its size: no pixel of it is decoded. Its chip's decoder takes
// baseline pictures alone, its GPU also progressive ones of up to 2040 columns, its
// hybrid all: rules made up so that each is the only one for something.
#include "hooks.h"

#include <cstring>
#include <memory>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

enum { success = 0, invalid = 2, bad_jpeg = 3, not_supported = 4, failed = 6, mismatch = 7, incomplete = 10 };
enum { hybrid = 1, gpu = 2, hardware = 3 };
enum { ycbcr = 1, rgb = 5 };

struct Image {
	unsigned char *channel[4];
	size_t pitch[4];
};

// Everything that has a handle here.
struct Object {
	int backend = 0, format = 0, batch = 0;
	bool pinned = false, device = false; // attached, for a state
	// Of a picture's header.
	unsigned frame = 0, width = 0, height = 0, components = 0, across[4] = {}, down[4] = {};
	unsigned char seed = 0;
};

// Faults of the environment. Where nvJPEG has no answer of its own for one, the
// function answers what FAKECUDA_FAIL says.
#define ENTER(function)                                       \
	if (int answer = fakecuda_fault(#function); answer != 0) \
	return answer

static int make(void **handle, Object o = {}) {
	if (fakecuda_context() != 0)
		return failed;
	*handle = new Object(o);
	fakecuda_object(1);
	return success;
}

static int unmake(void *handle) {
	delete (Object *)handle;
	fakecuda_object(-1);
	return success;
}

// parse reads the first frame header and wants the end of the picture.
static int parse(Object &o, const unsigned char *data, size_t size) {
	if (size < 4 || data[0] != 0xFF || data[1] != 0xD8)
		return bad_jpeg;
	for (size_t at = 2; at + 9 < size && data[at] == 0xFF;) {
		unsigned marker = data[at + 1], length = data[at + 2] << 8 | data[at + 3];
		if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) {
			const unsigned char *f = data + at + 4;
			o.frame = marker;
			o.height = f[1] << 8 | f[2];
			o.width = f[3] << 8 | f[4];
			o.components = f[5];
			if (o.components == 0 || o.components > 4 || length < 8 + 3 * o.components || at + 2 + length > size)
				return bad_jpeg;
			if (marker > 0xC2 || f[0] != 8)
				return not_supported;
			unsigned most_across = 1, most_down = 1;
			for (unsigned i = 0; i < o.components; i++) {
				o.across[i] = f[7 + 3 * i] >> 4;
				o.down[i] = f[7 + 3 * i] & 15;
				most_across = o.across[i] > most_across ? o.across[i] : most_across;
				most_down = o.down[i] > most_down ? o.down[i] : most_down;
			}
			for (unsigned i = 0; i < o.components; i++) {
				o.across[i] = (o.width * o.across[i] + most_across - 1) / most_across;
				o.down[i] = (o.height * o.down[i] + most_down - 1) / most_down;
			}
			o.seed = data[size / 2];
			return data[size - 2] == 0xFF && data[size - 1] == 0xD9 ? success : incomplete;
		}
		at += 2 + length;
	}
	return bad_jpeg;
}

static bool takes(int backend, const Object &o) {
	switch (backend) {
	case hardware: return o.frame == 0xC0;
	case gpu: return o.width <= 255 * 8;
	default: return true;
	}
}

// Drawing is a picture on its way.
struct Drawing {
	Object picture;
	Image to;
	int format, backend;
};

// draw makes the pattern: fakenvjpeg's pixel() in package nvjpeg's tests is the same.
static int draw(void *argument) {
	const Drawing &d = *(Drawing *)argument;
	for (unsigned c = 0; c < (d.format == rgb ? 1 : d.picture.components); c++) {
		unsigned w = d.format == rgb ? 3 * d.picture.width : d.picture.across[c];
		unsigned h = d.format == rgb ? d.picture.height : d.picture.down[c];
		if (!fakecuda_holds((uintptr_t)d.to.channel[c], d.to.pitch[c] * (h - 1) + w))
			return 700;
		for (unsigned y = 0; y < h; y++)
			for (unsigned x = 0; x < w; x++)
				d.to.channel[c][d.to.pitch[c] * y + x] = (unsigned char)(x + 3 * y + 5 * c + 7 * d.backend + d.picture.seed);
	}
	return 0;
}

static int queue(const Object &picture, const Image &to, int format, int backend, void *stream) {
	if ((format != rgb && format != ycbcr) || fakecuda_context() != 0)
		return failed;
	auto *d = new Drawing{picture, to, format, backend};
	return fakecuda_enqueue(stream, draw, [](void *p) { delete (Drawing *)p; }, d) == 0 ? success : failed;
}

EXPORT int nvjpegGetProperty(int type, int *value) {
	ENTER(nvjpegGetProperty);
	const int version[3] = {12, 2, 2};
	*value = version[type];
	return success;
}

EXPORT int nvjpegCreateEx(int backend, void *, void *, unsigned, void **handle) {
	ENTER(nvjpegCreateEx);
	if (backend == hardware && fakecuda_setting("HARDWARE", 1) == 0)
		return mismatch;
	Object o;
	o.backend = backend;
	return make(handle, o);
}
EXPORT int nvjpegDestroy(void *handle) { return unmake(handle); }

EXPORT int nvjpegJpegStateCreate(void *handle, void **state) {
	ENTER(nvjpegJpegStateCreate);
	return ((Object *)handle)->backend == hardware ? make(state) : invalid;
}
EXPORT int nvjpegJpegStateDestroy(void *state) { return unmake(state); }

EXPORT int nvjpegBufferPinnedCreate(void *, void *, void **buffer) {
	ENTER(nvjpegBufferPinnedCreate);
	return make(buffer);
}
EXPORT int nvjpegBufferPinnedDestroy(void *buffer) { return unmake(buffer); }
EXPORT int nvjpegBufferDeviceCreate(void *, void *, void **buffer) {
	ENTER(nvjpegBufferDeviceCreate);
	return make(buffer);
}
EXPORT int nvjpegBufferDeviceDestroy(void *buffer) { return unmake(buffer); }
EXPORT int nvjpegStateAttachPinnedBuffer(void *state, void *) {
	ENTER(nvjpegStateAttachPinnedBuffer);
	((Object *)state)->pinned = true;
	return success;
}
EXPORT int nvjpegStateAttachDeviceBuffer(void *state, void *) {
	ENTER(nvjpegStateAttachDeviceBuffer);
	((Object *)state)->device = true;
	return success;
}

EXPORT int nvjpegJpegStreamCreate(void *, void **jpeg) {
	ENTER(nvjpegJpegStreamCreate);
	return make(jpeg);
}
EXPORT int nvjpegJpegStreamDestroy(void *jpeg) { return unmake(jpeg); }
EXPORT int nvjpegJpegStreamParse(void *, const unsigned char *data, size_t size, int, int, void *jpeg) {
	ENTER(nvjpegJpegStreamParse);
	*(Object *)jpeg = Object();
	return parse(*(Object *)jpeg, data, size);
}
EXPORT int nvjpegJpegStreamGetFrameDimensions(void *jpeg, unsigned *width, unsigned *height) {
	*width = ((Object *)jpeg)->width;
	*height = ((Object *)jpeg)->height;
	return success;
}
EXPORT int nvjpegJpegStreamGetComponentsNum(void *jpeg, unsigned *components) {
	*components = ((Object *)jpeg)->components;
	return success;
}
EXPORT int nvjpegJpegStreamGetComponentDimensions(void *jpeg, unsigned i, unsigned *width, unsigned *height) {
	*width = ((Object *)jpeg)->across[i];
	*height = ((Object *)jpeg)->down[i];
	return success;
}

EXPORT int nvjpegDecodeParamsCreate(void *, void **parameters) {
	ENTER(nvjpegDecodeParamsCreate);
	return make(parameters);
}
EXPORT int nvjpegDecodeParamsDestroy(void *parameters) { return unmake(parameters); }
EXPORT int nvjpegDecodeParamsSetOutputFormat(void *parameters, int format) {
	((Object *)parameters)->format = format;
	return success;
}

EXPORT int nvjpegDecoderCreate(void *, int backend, void **decoder) {
	ENTER(nvjpegDecoderCreate);
	Object o;
	o.backend = backend;
	return backend == gpu || backend == hybrid ? make(decoder, o) : invalid;
}
EXPORT int nvjpegDecoderDestroy(void *decoder) { return unmake(decoder); }
EXPORT int nvjpegDecoderStateCreate(void *, void *, void **state) {
	ENTER(nvjpegDecoderStateCreate);
	return make(state);
}
EXPORT int nvjpegDecoderJpegSupported(void *decoder, void *jpeg, void *parameters, int *unsupported) {
	ENTER(nvjpegDecoderJpegSupported);
	int format = ((Object *)parameters)->format;
	*unsupported = !takes(((Object *)decoder)->backend, *(Object *)jpeg) || (format != rgb && format != ycbcr);
	return success;
}
EXPORT int nvjpegDecodeJpeg(void *, void *decoder, void *state, void *jpeg, Image *to, void *parameters, void *stream) {
	ENTER(nvjpegDecodeJpeg);
	if (!((Object *)state)->pinned || !((Object *)state)->device)
		return invalid;
	return queue(*(Object *)jpeg, *to, ((Object *)parameters)->format, ((Object *)decoder)->backend, stream);
}

EXPORT int nvjpegDecodeBatchedSupported(void *handle, void *jpeg, int *unsupported) {
	ENTER(nvjpegDecodeBatchedSupported);
	*unsupported = !takes(((Object *)handle)->backend, *(Object *)jpeg);
	return success;
}
EXPORT int nvjpegDecodeBatchedInitialize(void *, void *state, int size, int, int format) {
	ENTER(nvjpegDecodeBatchedInitialize);
	((Object *)state)->batch = size;
	((Object *)state)->format = format;
	return success;
}
EXPORT int nvjpegDecodeBatched(void *, void *state, const unsigned char *const *data, const size_t *sizes, Image *to, void *stream) {
	ENTER(nvjpegDecodeBatched);
	const Object &s = *(Object *)state;
	for (int i = 0; i < s.batch; i++) {
		Object picture;
		int answer = parse(picture, data[i], sizes[i]);
		if (answer == success)
			answer = queue(picture, to[i], s.format, hardware, stream);
		if (answer != success)
			return answer;
	}
	return success;
}
