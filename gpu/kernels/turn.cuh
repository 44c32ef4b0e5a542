// Rotation and other affine maps: internal/codec/warp/warp.go, which is Pillow's
// Geometry.c. Products are rounded before they are added: the file is compiled
// without contraction.

// between is what lies between a and b above, and c and d below.
static __device__ __forceinline__ uint8_t between(int a, int b, int c, int d, double dx, double dy) {
	double above = (double)a + (double)(b - a) * dx;
	double below = (double)c + (double)(d - c) * dx;
	return (uint8_t)(int)(above + (below - above) * dy);
}

// cubic is the cubic through b and c at a distance from b.
static __device__ __forceinline__ double cubic(double a, double b, double c, double d, double at) {
	double p2 = c - a;
	double p3 = 2 * (a - b) + c - d;
	double p4 = b - a - c + d;
	return b + at * (p2 + at * (p3 + at * p4));
}

extern "C" __global__ void tfrec_turn(const Op *ops, uint64_t count) {
	int x, y;
	const Op *op = find(ops, count, &x, &y);
	if (!op) {
		return;
	}
	const View &src = op->src[0];
	int channels = op->channels, width = (int)op->arg[1], height = (int)op->arg[2];
	const int64_t *color = op->arg + 4;
	uint8_t *to = pixel(op->dst, x, y);
	if (op->arg[0] == 0) { // the nearest pixel, in 16 bits of fraction
		const int64_t *m = op->arg + 7;
		int64_t at_x = (m[2] + m[1] * y + m[0] * x) >> 16, at_y = (m[5] + m[4] * y + m[3] * x) >> 16;
		bool in = at_x >= 0 && at_x < width && at_y >= 0 && at_y < height;
		const uint8_t *from = in ? pixel(src, (int)at_x, (int)at_y) : 0;
		for (int c = 0; c < channels; c++) {
			to[c] = in ? from[c] : (uint8_t)color[c];
		}
		return;
	}
	const double *m = op->real;
	double center_x = (double)x + 0.5, center_y = (double)y + 0.5;
	double at_x = m[0] * center_x + m[1] * center_y + m[2], at_y = m[3] * center_x + m[4] * center_y + m[5];
	if (!(at_x >= 0 && at_x < (double)width && at_y >= 0 && at_y < (double)height)) {
		for (int c = 0; c < channels; c++) {
			to[c] = (uint8_t)color[c];
		}
		return;
	}
	at_x -= 0.5, at_y -= 0.5;
	int left = (int)(at_x + 1) - 1, top = (int)(at_y + 1) - 1;
	double dx = at_x - (double)left, dy = at_y - (double)top;
	int right = width - 1, bottom = height - 1;
	if (op->arg[0] == 1) {
		int x0 = clamp(left, 0, right), x1 = clamp(left + 1, 0, right);
		int y0 = clamp(top, 0, bottom), y1 = clamp(top + 1, 0, bottom);
		const uint8_t *a = pixel(src, x0, y0), *b = pixel(src, x1, y0);
		const uint8_t *c = pixel(src, x0, y1), *d = pixel(src, x1, y1);
		for (int i = 0; i < channels; i++) {
			to[i] = between(a[i], b[i], c[i], d[i], dx, dy);
		}
		return;
	}
	for (int c = 0; c < channels; c++) {
		double row[4];
		for (int i = 0; i < 4; i++) {
			double v[4];
			for (int j = 0; j < 4; j++) {
				v[j] = (double)pixel(src, clamp(left - 1 + j, 0, right), clamp(top - 1 + i, 0, bottom))[c];
			}
			row[i] = cubic(v[0], v[1], v[2], v[3], dx);
		}
		to[c] = clip((int)cubic(row[0], row[1], row[2], row[3], dy));
	}
}
