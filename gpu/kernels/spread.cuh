// What looks at neighbours or adds noise: internal/codec/steps/sharpness.go, blur.go,
// noise.go.

extern "C" __global__ void tfrec_sharpen(const Op *ops, uint64_t count) {
	int x, y;
	const Op *op = find(ops, count, &x, &y);
	if (!op) {
		return;
	}
	const uint8_t *from = pixel(op->src[0], x, y);
	uint8_t *to = pixel(op->dst, x, y);
	bool edge = x == 0 || y == 0 || x == op->width - 1 || y == op->height - 1;
	for (int c = 0; c < op->channels; c++) {
		if (edge) {
			to[c] = from[c];
			continue;
		}
		uint32_t sum = 4 * from[c];
		const uint8_t *row = from + c - op->src[0].stride;
		for (int i = 0; i < 3; i++, row += op->src[0].stride) {
			sum += row[-op->src[0].step] + row[0] + row[op->src[0].step];
		}
		to[c] = mix((uint8_t)((2 * sum + 13) / 26), from[c], (float)op->real[0]);
	}
}

// mirrored is the place from 0 to n-1 that a place outside shows.
static __device__ __forceinline__ int mirrored(int at, int n) {
	if (at >= 0 && at < n) {
		return at;
	}
	if (n == 1) {
		return 0;
	}
	int period = 2 * (n - 1);
	at %= period;
	if (at < 0) {
		at += period;
	}
	return at < period - at ? at : period - at;
}

// BELL_BITS is the weights' bits of fraction.
#define BELL_BITS 24

extern "C" __global__ void tfrec_blur(const Op *ops, uint64_t count) {
	int at, y;
	const Op *op = find(ops, count, &at, &y);
	if (!op) {
		return;
	}
	int x = at / op->channels, c = at - x * op->channels;
	int half = (int)op->arg[0], width = (int)op->arg[2], height = (int)op->arg[3];
	const uint32_t *bell = (const uint32_t *)op->table[0];
	const View &src = op->src[0];
	if (op->arg[1] == 0) {
		uint32_t sum = pixel(src, x, y)[c] * bell[half];
		ROLLED
		for (int k = 1; k <= half; k++) {
			uint32_t both = (uint32_t)pixel(src, mirrored(x - k, width), y)[c] + pixel(src, mirrored(x + k, width), y)[c];
			sum += both * bell[half - k];
		}
		((uint32_t *)pixel(op->dst, x, y))[c] = sum;
		return;
	}
	uint64_t sum = ((uint64_t)1 << (2 * BELL_BITS - 1)) + (uint64_t)((const uint32_t *)pixel(src, x, y))[c] * bell[half];
	ROLLED
	for (int k = 1; k <= half; k++) {
		uint64_t above = ((const uint32_t *)pixel(src, x, mirrored(y - k, height)))[c];
		uint64_t below = ((const uint32_t *)pixel(src, x, mirrored(y + k, height)))[c];
		sum += (above + below) * bell[half - k];
	}
	pixel(op->dst, x, y)[c] = (uint8_t)(sum >> (2 * BELL_BITS));
}

// The fraction that noise is added up in: noiseOne times normalOne.
#define NOISE_ONE ((int64_t)1 << 28)

extern "C" __global__ void tfrec_noise(const Op *ops, uint64_t count) {
	int at, y;
	const Op *op = find(ops, count, &at, &y);
	if (!op) {
		return;
	}
	int x = at / op->channels, c = at - x * op->channels;
	uint64_t i = (uint64_t)y * op->width + at;
	uint64_t bits = splitmix(op->arg[2], i / 4 + 1) >> 16 * (i & 3);
	int64_t z = ((const int16_t *)op->table[0])[bits >> 1 & 0x7fff];
	if (bits & 1) {
		z = -z;
	}
	int64_t v = pixel(op->src[0], x, y)[c] + (op->arg[0] + z * op->arg[1]) / NOISE_ONE;
	pixel(op->dst, x, y)[c] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}
