// A fake nvJPEG, which decodes as libjpeg does (picture.h). Its chip's decoder takes
// baseline pictures alone, its GPU also progressive ones, but no gray, its hybrid
// all: rules made up so that each is the only one for something. FAKECUDA_TINT is
// added to the luma, so that it can be seen who decoded a picture.
#include "hooks.h"
#include "picture.h"

#include <algorithm>

#define EXPORT extern "C" __attribute__((visibility("default")))

enum { success = 0, invalid = 2, bad_jpeg = 3, not_supported = 4, failed = 6, mismatch = 7, incomplete = 10 };
enum { hybrid = 1, gpu = 2, hardware = 3 };
enum { ycbcr = 1, luma = 2 };

struct Image {
	unsigned char *channel[4];
	size_t pitch[4];
};

// Everything that has a handle here.
struct Object {
	int backend = 0, format = 0, batch = 0;
	unsigned most[3] = {}; // pictures, width and height that there is memory for, of a state
	bool pinned = false, device = false; // attached, for a state
	bool busy = false;                   // a picture is on its way, for a state and what was parsed
	// Of a picture that was parsed.
	Header header;
	const unsigned char *data = nullptr;
	size_t size = 0;
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

static int parse(Object &o, const unsigned char *data, size_t size) {
	Reading r = read_header(o.header, data, size);
	o.data = data;
	o.size = size;
	if (r == Reading::none)
		return bad_jpeg;
	if (o.header.frame > 0xC2 || o.header.bits != 8)
		return not_supported;
	return r == Reading::whole ? success : incomplete;
}

static bool takes(int backend, const Object &o) {
	switch (backend) {
	case hardware: return o.header.frame == 0xC0;
	case gpu: return o.header.components != 1;
	default: return true;
	}
}

// Drawing is a picture on its way. Its bytes are read when the stream gets there, and until then
// nobody may make anything else of its objects.
struct Drawing {
	Object picture;
	Image to;
	Object *state, *jpeg;
};

static int draw(void *argument) {
	const Drawing &d = *(Drawing *)argument;
	if (d.state != nullptr)
		d.state->busy = false;
	if (d.jpeg != nullptr)
		d.jpeg->busy = false;
	// A picture that is skipped, while nvJPEG reports success.
	if (fakecuda_fault(d.jpeg != nullptr ? "picture" : "pictureBatched") != 0)
		return 0;
	int tint = (int)fakecuda_setting("TINT", 0);
	auto planes = decode(d.picture.header, d.picture.data, d.picture.size);
	for (size_t c = 0; c < planes.size(); c++) {
		const Plane &p = planes[c];
		if (!fakecuda_holds((uintptr_t)d.to.channel[c], d.to.pitch[c] * (p.height - 1) + p.width))
			return 700;
		for (size_t y = 0; y < p.height; y++)
			for (size_t x = 0; x < p.width; x++)
				d.to.channel[c][d.to.pitch[c] * y + x] = (unsigned char)std::clamp(p.samples[p.width * y + x] + (c == 0 ? tint : 0), 0, 255);
	}
	return 0;
}

// Gray pictures have no planes of chroma to be written.
static int format_of(const Object &picture) { return picture.header.components == 1 ? luma : ycbcr; }

static int queue(const Object &picture, const Image &to, int format, void *stream, Object *state = nullptr, Object *jpeg = nullptr) {
	if (format != format_of(picture) || fakecuda_context() != 0)
		return failed;
	auto *d = new Drawing{picture, to, state, jpeg};
	return fakecuda_enqueue(stream, draw, [](void *p) { delete (Drawing *)p; }, d) == 0 ? success : failed;
}

EXPORT int nvjpegGetProperty(int type, int *value) {
	ENTER(nvjpegGetProperty);
	const int version[3] = {12, 2, 2};
	*value = version[type];
	return success;
}

EXPORT int nvjpegCreateEx(int backend, void *, void *, unsigned flags, void **handle) {
	ENTER(nvjpegCreateEx);
	if (flags != 0 && fakecuda_setting("POOLS", 1) == 0)
		return invalid;
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
	if (((Object *)jpeg)->busy)
		return failed;
	*(Object *)jpeg = Object();
	return parse(*(Object *)jpeg, data, size);
}
#ifndef OLD // what came later
EXPORT int nvjpegJpegStreamParseHeader(void *, const unsigned char *data, size_t size, void *jpeg) {
	ENTER(nvjpegJpegStreamParseHeader);
	*(Object *)jpeg = Object();
	int answer = parse(*(Object *)jpeg, data, size);
	return answer == incomplete ? (int)success : answer;
}
#endif
EXPORT int nvjpegJpegStreamGetFrameDimensions(void *jpeg, unsigned *width, unsigned *height) {
	*width = ((Object *)jpeg)->header.width;
	*height = ((Object *)jpeg)->header.height;
	return success;
}
EXPORT int nvjpegJpegStreamGetComponentsNum(void *jpeg, unsigned *components) {
	*components = ((Object *)jpeg)->header.components;
	return success;
}
EXPORT int nvjpegJpegStreamGetComponentDimensions(void *jpeg, unsigned i, unsigned *width, unsigned *height) {
	*width = ((Object *)jpeg)->header.width_of(i);
	*height = ((Object *)jpeg)->header.height_of(i);
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
	*unsupported = !takes(((Object *)decoder)->backend, *(Object *)jpeg) ||
		       ((Object *)parameters)->format != format_of(*(Object *)jpeg);
	return success;
}
EXPORT int nvjpegDecodeJpeg(void *, void *, void *state, void *jpeg, Image *to, void *parameters, void *stream) {
	ENTER(nvjpegDecodeJpeg);
	Object *s = (Object *)state, *j = (Object *)jpeg;
	if (!s->pinned || !s->device || s->busy)
		return invalid;
	s->busy = j->busy = true;
	return queue(*j, *to, ((Object *)parameters)->format, stream, s, j);
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
// enlarge counts an allocation where a state has too little memory.
static void enlarge(Object &state, unsigned n, unsigned width, unsigned height) {
	const unsigned want[3] = {n, width, height};
	bool more = false;
	for (int i = 0; i < 3; i++) {
		more = more || want[i] > state.most[i];
		state.most[i] = std::max(state.most[i], want[i]);
	}
	if (more)
		fakecuda_allocation();
}

#ifndef OLD // what came later
EXPORT int nvjpegDecodeBatchedPreAllocate(void *, void *state, int n, int width, int height, int sampling, int format) {
	ENTER(nvjpegDecodeBatchedPreAllocate);
	Object &s = *(Object *)state;
	if (s.busy || sampling != (format == luma ? 6 : 0))
		return invalid;
	enlarge(s, n, width, height);
	return success;
}
#endif
EXPORT int nvjpegDecodeBatched(void *, void *state, const unsigned char *const *data, const size_t *sizes, Image *to, void *stream) {
	ENTER(nvjpegDecodeBatched);
	Object &s = *(Object *)state;
	if (s.busy)
		return invalid;
	unsigned width = 0, height = 0;
	for (int i = 0; i < s.batch; i++) {
		Object picture;
		int answer = parse(picture, data[i], sizes[i]);
		bool last = i == s.batch - 1;
		width = std::max(width, picture.header.width), height = std::max(height, picture.header.height);
		if (answer == success)
			answer = queue(picture, to[i], s.format, stream, last ? &s : nullptr);
		s.busy = last && answer == success;
		if (answer != success)
			return answer;
	}
	enlarge(s, s.batch, width, height);
	return success;
}
