// What changes pixels in their places: internal/codec/recolor/rows.go, hue.go,
// histogram.go.

// RUN is how many pixels a thread of sum and count takes: raster.Run.
#define RUN 64

// nearest8 rounds what is between 0 and 255, halves up.
static __device__ __forceinline__ uint8_t nearest8(double v) {
	int n = (int)v;
	return (uint8_t)(n + (int)((v - (double)n) * 2));
}

// turn_hue is augment's turnHue, in float and double where that is.
static __device__ void turn_hue(uint8_t *p, uint8_t turn) {
	uint8_t r = p[0], g = p[1], b = p[2];
	uint8_t most = r > g ? r : g, least = r < g ? r : g;
	most = most > b ? most : b, least = least < b ? least : b;
	if (most == least) {
		return;
	}
	uint8_t saturation = (uint8_t)((double)((float)(most - least) / (float)most) * 255);
	if (saturation == 0) {
		p[0] = p[1] = p[2] = most;
		return;
	}
	float spread = (float)(most - least);
	float to_red = (float)(most - r) / spread, to_green = (float)(most - g) / spread, to_blue = (float)(most - b) / spread;
	float hue;
	if (most == r) {
		hue = to_blue - to_green;
	} else if (most == g) {
		hue = (float)(2 + (double)to_red - (double)to_blue);
	} else {
		hue = (float)(4 + (double)to_green - (double)to_red);
	}
	double part = (double)hue / 6 + 1;
	if (part >= 1) {
		part -= 1;
	}
	uint8_t h = (uint8_t)((uint8_t)((double)(float)part * 255) + turn);

	double place = (double)h * 6 / 255;
	float at = (float)(place - (double)(int)place);
	float s = (float)saturation / 255;
	double v = (double)most;
	uint8_t low = nearest8(v * (1 - (double)s));
	uint8_t falling = nearest8(v * (1 - (double)(s * at)));
	uint8_t rising = nearest8(v * (1 - (double)s * (1 - (double)at)));
	switch ((int)place % 6) {
	case 0: p[0] = most, p[1] = rising, p[2] = low; break;
	case 1: p[0] = falling, p[1] = most, p[2] = low; break;
	case 2: p[0] = low, p[1] = most, p[2] = rising; break;
	case 3: p[0] = low, p[1] = falling, p[2] = most; break;
	case 4: p[0] = rising, p[1] = low, p[2] = most; break;
	default: p[0] = most, p[1] = low, p[2] = falling; break;
	}
}

// Six blocks on a multiprocessor, with 40 registers a thread, rather than five.
extern "C" __global__ void __launch_bounds__(THREADS, 6) tfrec_recolor(const Op *ops, uint64_t count) {
	int x, y;
	const Op *op = find(ops, count, &x, &y);
	if (!op) {
		return;
	}
	const uint8_t *from = pixel(op->src[0], x, y);
	uint8_t *to = pixel(op->dst, x, y);
	uint8_t p[3];
	for (int c = 0; c < op->channels; c++) {
		uint8_t v = from[c];
		if (op->table[0]) {
			v = op->table[0][(op->arg[1] ? 256 * c : 0) + v];
		}
		if (op->table[1]) {
			v = op->table[1][(op->arg[2] ? 256 * c : 0) + v];
		}
		p[c] = v;
	}
	if (op->arg[0] == 1) {
		float factor = (float)op->real[0];
		uint8_t gray = luminance(p[0], p[1], p[2]);
		for (int c = 0; c < 3; c++) {
			p[c] = mix(gray, p[c], factor);
		}
	} else if (op->arg[0] == 2) {
		p[0] = p[1] = p[2] = luminance(p[0], p[1], p[2]);
	} else if (op->arg[0] == 3) {
		turn_hue(p, (uint8_t)op->arg[3]);
	}
	for (int c = 0; c < op->channels; c++) {
		to[c] = p[c];
	}
}

extern "C" __global__ void tfrec_sum(const Op *ops, uint64_t count) {
	int run, y;
	const Op *op = find(ops, count, &run, &y);
	if (!op) {
		return;
	}
	const uint8_t *table = op->table[0];
	int each = op->arg[1] ? 256 : 0, width = (int)op->arg[0];
	uint32_t sum = 0;
	for (int x = run * RUN; x < width && x < (run + 1) * RUN; x++) {
		const uint8_t *p = pixel(op->src[0], x, y);
		uint8_t v[3];
		for (int c = 0; c < op->channels; c++) {
			v[c] = table ? table[each * c + p[c]] : p[c];
		}
		sum += op->channels == 1 ? v[0] : luminance(v[0], v[1], v[2]);
	}
	atomicAdd((wide_t *)op->dst.at, (wide_t)sum);
}

extern "C" __global__ void tfrec_count(const Op *ops, uint64_t count) {
	int run, y;
	const Op *op = find(ops, count, &run, &y);
	if (!op) {
		return;
	}
	const uint8_t *table = op->table[0];
	int each = op->arg[1] ? 256 : 0, width = (int)op->arg[0];
	unsigned *levels = (unsigned *)op->dst.at;
	for (int x = run * RUN; x < width && x < (run + 1) * RUN; x++) {
		const uint8_t *p = pixel(op->src[0], x, y);
		for (int c = 0; c < op->channels; c++) {
			uint8_t v = table ? table[each * c + p[c]] : p[c];
			atomicAdd(levels + 256 * c + v, 1u);
		}
	}
}

// equalize and stretch make a table of 256 levels of how often each is there.
static __device__ void equalize(uint8_t *table, const uint32_t *levels) {
	int64_t all = 0, last = 0;
	for (int v = 0; v < 256; v++) {
		if (levels[v] > 0) {
			all += levels[v], last = levels[v];
		}
	}
	int64_t step = (all - last) / 255, below = step / 2;
	for (int v = 0; v < 256; v++) {
		table[v] = (uint8_t)v;
		if (step > 0) {
			int64_t to = below / step;
			table[v] = (uint8_t)(to > 255 ? 255 : to);
		}
		below += levels[v];
	}
}

static __device__ void stretch(uint8_t *table, const uint32_t *levels) {
	int low = -1, high = 0;
	for (int v = 0; v < 256; v++) {
		if (levels[v] == 0) {
			continue;
		}
		high = v;
		if (low < 0) {
			low = v;
		}
	}
	double scale = 1, offset = 0;
	if (high > low) {
		scale = 255 / (double)(high - low);
		offset = (double)-low * scale;
	}
	for (int v = 0; v < 256; v++) {
		double to = (double)v * scale + offset;
		table[v] = high <= low ? (uint8_t)v : (uint8_t)(to < 0 ? 0 : to > 255 ? 255 : to);
	}
}

extern "C" __global__ void tfrec_levels(const Op *ops, uint64_t count) {
	int c, y;
	const Op *op = find(ops, count, &c, &y);
	if (!op) {
		return;
	}
	uint8_t *table = op->dst.at + 256 * c;
	if (op->arg[0] == 0) {
		uint64_t sum = *(const uint64_t *)op->src[0].at, n = (uint64_t)op->arg[1];
		uint8_t mean = (uint8_t)((2 * sum + n) / (2 * n));
		for (int v = 0; v < 256; v++) {
			table[v] = mix(mean, (uint8_t)v, (float)op->real[0]);
		}
		return;
	}
	const uint32_t *levels = (const uint32_t *)op->src[0].at + 256 * c;
	if (op->arg[0] == 1) {
		equalize(table, levels);
	} else {
		stretch(table, levels);
	}
}
