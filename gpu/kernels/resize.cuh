// What moves pixels: resizing, picking, and converting planes to RGB.

// The weights' bits of fraction, and those of samples in between where they
// overshoot: augment/taps.go and resize_wide.go.
#define PRECISION 22
#define WIDE_BITS 6

extern "C" __global__ void tfrec_weigh(const Op *ops, uint64_t count) {
	int at, y;
	const Op *op = find(ops, count, &at, &y);
	if (!op) {
		return;
	}
	int x = at / op->channels, c = at - x * op->channels;
	int n = (int)op->arg[0], i = op->arg[1] ? y : x;
	const int32_t *table = (const int32_t *)op->table[0];
	int first = table[i] - (int)op->arg[2], taps = table[n + i];
	const int32_t *weight = table + 2 * n + i;
	const View &src = op->src[0];
	uint8_t *to = pixel(op->dst, x, y);
	const uint8_t *from;
	int64_t step;
	if (op->arg[1]) {
		from = pixel(src, x, first), step = src.stride;
	} else {
		from = pixel(src, first, y), step = src.step;
	}
	if (op->arg[3] == 2) { // from 16 bits
		int64_t sum = (int64_t)1 << (PRECISION + WIDE_BITS - 1);
		for (int j = 0; j < taps; j++, from += step, weight += n) {
			sum += (int64_t)((const int16_t *)from)[c] * *weight;
		}
		sum >>= PRECISION + WIDE_BITS;
		to[c] = (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
		return;
	}
	bool wide = op->arg[3] == 1;
	int32_t sum = 1 << ((wide ? PRECISION - WIDE_BITS : PRECISION) - 1);
	for (int j = 0; j < taps; j++, from += step, weight += n) {
		sum += (int32_t)from[c] * *weight;
	}
	if (wide) {
		((int16_t *)to)[c] = (int16_t)(sum >> (PRECISION - WIDE_BITS));
		return;
	}
	to[c] = clip(sum >> PRECISION);
}

extern "C" __global__ void tfrec_pick(const Op *ops, uint64_t count) {
	int x, y;
	const Op *op = find(ops, count, &x, &y);
	if (!op) {
		return;
	}
	int from_x = op->table[0] ? ((const int32_t *)op->table[0])[x] : x;
	int from_y = op->table[1] ? ((const int32_t *)op->table[1])[y] : y;
	if (from_x < 0 || from_y < 0) {
		return;
	}
	const uint8_t *from = pixel(op->src[0], from_x, from_y);
	uint8_t *to = pixel(op->dst, x, y);
	for (int c = 0; c < op->channels; c++) {
		to[c] = from[c];
	}
}

// chroma is the sample of a plane of chroma at a pixel of the whole picture, as
// internal/codec/jpeg/upsample.go enlarges it.
static __device__ __forceinline__ int chroma(const Op *op, const View &plane, int x, int y) {
	int fx = (int)op->arg[0], fy = (int)op->arg[1];
	int width = (int)op->arg[5], height = (int)op->arg[6], left = (int)op->arg[7], top = (int)op->arg[8];
	int cx = x / fx, cy = y / fy;
	const uint8_t *near = pixel(plane, cx - left, cy - top);
	if (!op->arg[2]) {
		return *near;
	}
	int side = (x & 1) ? (cx + 1 < width ? plane.step : 0) : (cx > 0 ? -plane.step : 0);
	int64_t row = (y & 1) ? (cy + 1 < height ? plane.stride : 0) : (cy > 0 ? -plane.stride : 0);
	if (fy == 1) {
		return (3 * near[0] + near[side] + 1 + (x & 1)) >> 2;
	}
	const uint8_t *far = near + row;
	if (fx == 1) {
		return (3 * near[0] + far[0] + 1 + (y & 1)) >> 2;
	}
	int here = 3 * near[0] + far[0], other = 3 * near[side] + far[side];
	return (3 * here + other + 8 - (x & 1)) >> 4;
}

// The conversion is libjpeg's, in 16 bits of fraction: internal/codec/jpeg/color.go.
extern "C" __global__ void tfrec_convert(const Op *ops, uint64_t count) {
	int x, y;
	const Op *op = find(ops, count, &x, &y);
	if (!op) {
		return;
	}
	int at_x = x + (int)op->arg[3], at_y = y + (int)op->arg[4];
	int luma = *pixel(op->src[0], x, y);
	int cb = chroma(op, op->src[1], at_x, at_y) - 128, cr = chroma(op, op->src[2], at_x, at_y) - 128;
	uint8_t *to = pixel(op->dst, x, y);
	to[0] = clip(luma + ((91881 * cr + (1 << 15)) >> 16));
	to[1] = clip(luma + ((-22554 * cb + (1 << 15) - 46802 * cr) >> 16));
	to[2] = clip(luma + ((116130 * cb + (1 << 15)) >> 16));
}

// splitmix is number i, from 1, of SplitMix64.
static __device__ __forceinline__ uint64_t splitmix(uint64_t seed, uint64_t i) {
	uint64_t z = seed + i * 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

extern "C" __global__ void tfrec_paint(const Op *ops, uint64_t count) {
	int x, y;
	const Op *op = find(ops, count, &x, &y);
	if (!op) {
		return;
	}
	uint8_t *to = pixel(op->dst, x, y);
	int channels = op->channels;
	uint64_t words = ((uint64_t)op->width * channels + 7) / 8; // of noise, a row
	for (int c = 0; c < channels; c++) {
		if (op->arg[0] == 0) {
			to[c] = (uint8_t)op->arg[1 + c];
		} else if (op->arg[0] == 1) {
			to[c] = (uint8_t)((to[c] + (uint32_t)op->arg[1 + c] + 1) / 2);
		} else {
			int i = x * channels + c;
			to[c] = (uint8_t)(splitmix(op->arg[1], y * words + i / 8 + 1) >> 8 * (i & 7));
		}
	}
}

extern "C" __global__ void tfrec_normalize(const Op *ops, uint64_t count) {
	int x, y;
	const Op *op = find(ops, count, &x, &y);
	if (!op) {
		return;
	}
	const uint8_t *from = pixel(op->src[0], x, y);
	const uint32_t *table = (const uint32_t *)op->table[0]; // floats are only moved
	uint32_t *to = (uint32_t *)op->dst.at;
	int64_t at = (int64_t)y * op->width + x, size = (int64_t)op->width * op->height;
	for (int c = 0; c < op->channels; c++) {
		to[op->arg[0] ? c * size + at : at * op->channels + c] = table[256 * c + from[c]];
	}
}
