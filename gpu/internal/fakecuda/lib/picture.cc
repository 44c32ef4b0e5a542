#include "picture.h"

#include <algorithm>
#include <array>
#include <cstdlib>

static unsigned ceil_div(unsigned a, unsigned b) { return (a + b - 1) / b; }

static unsigned most(const unsigned *of, unsigned n) { return *std::max_element(of, of + n); }

unsigned Header::width_of(unsigned c) const { return ceil_div(width * across[c], most(across, components)); }
unsigned Header::height_of(unsigned c) const { return ceil_div(height * down[c], most(down, components)); }

// Segments walks over a picture's markers and their parameters.
struct Segments {
	const uint8_t *data;
	size_t size, at = 2;
	unsigned marker = 0;
	const uint8_t *body = nullptr;
	size_t length = 0;

	bool next() {
		while (at + 1 < size && (data[at] != 0xFF || data[at + 1] == 0xFF || data[at + 1] == 0 || (data[at + 1] & 0xF8) == 0xD0))
			at++;
		if (at + 1 >= size)
			return false;
		marker = data[at + 1];
		at += 2;
		if (marker == 0xD9)
			return false;
		if (at + 2 > size)
			return false;
		length = data[at] << 8 | data[at + 1];
		if (length < 2 || length > size - at)
			return false;
		body = data + at + 2;
		length -= 2;
		at += 2 + length;
		return true;
	}
};

static bool is_frame(unsigned marker) {
	return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

Reading read_header(Header &h, const uint8_t *data, size_t size) {
	if (size < 4 || data[0] != 0xFF || data[1] != 0xD8)
		return Reading::none;
	Segments s{data, size};
	while (s.next()) {
		if (s.marker == 0xDA)
			break;
		if (!is_frame(s.marker))
			continue;
		const uint8_t *f = s.body;
		h.components = s.length < 6 ? 0 : f[5];
		if (h.components < 1 || h.components > 4 || s.length < 6 + 3 * h.components)
			return Reading::none;
		h.frame = s.marker;
		h.bits = f[0];
		h.height = f[1] << 8 | f[2];
		h.width = f[3] << 8 | f[4];
		for (unsigned c = 0; c < h.components; c++) {
			h.identity[c] = f[6 + 3 * c];
			h.across[c] = std::max(f[7 + 3 * c] >> 4, 1);
			h.down[c] = std::max(f[7 + 3 * c] & 15, 1);
			h.table[c] = f[8 + 3 * c] & 3;
		}
		if (h.components == 1) // one alone is never interleaved
			h.across[0] = h.down[0] = 1;
		return data[size - 2] == 0xFF && data[size - 1] == 0xD9 ? Reading::whole : Reading::incomplete;
	}
	return Reading::none;
}

// Bits reads entropy-coded data up to the next marker, zeros behind that.
struct Bits {
	const uint8_t *data;
	size_t size, at;
	unsigned held = 0, count = 0;

	unsigned bit() {
		if (count == 0) {
			held = 0;
			count = 8;
			if (at < size && !(data[at] == 0xFF && (at + 1 >= size || data[at + 1] != 0))) {
				held = data[at];
				at += data[at] == 0xFF ? 2 : 1;
			}
		}
		return held >> --count & 1;
	}
	int take(unsigned n) {
		int v = 0;
		while (n-- > 0)
			v = v << 1 | (int)bit();
		return v;
	}
	// A number of n bits as JPEG has them: below half of their range it is negative.
	int extend(unsigned n) {
		int v = take(n);
		return n > 0 && v < 1 << (n - 1) ? v - (1 << n) + 1 : v;
	}
	void restart() {
		count = 0;
		while (at + 1 < size && !(data[at] == 0xFF && data[at + 1] >= 0xD0 && data[at + 1] <= 0xD7))
			at++;
		at += 2;
	}
};

// Codes is a Huffman table.
struct Codes {
	unsigned counts[17] = {};
	std::vector<uint8_t> values;

	unsigned read(Bits &bits) const {
		unsigned code = 0, first = 0, index = 0;
		for (unsigned n = 1; n <= 16; n++) {
			code = code << 1 | bits.bit();
			if (code - first < counts[n])
				return values[index + code - first];
			index += counts[n];
			first = (first + counts[n]) << 1;
		}
		return 0;
	}
};

using Block = std::array<int16_t, 64>;

static const uint8_t natural[64] = {
	0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

// Component is the coefficients of one, padded to whole units of interleaved data.
struct Component {
	unsigned wide, high; // blocks where it is alone in a scan
	unsigned stride;     // blocks in a row of all
	std::vector<Block> blocks;
	int dc = 0;
};

// Decoding is a picture on its way.
struct Decoding {
	const Header &h;
	uint16_t quant[4][64] = {};
	Codes dc[4], ac[4];
	unsigned interval = 0;
	std::vector<Component> components;

	// Of the scan.
	unsigned from = 0, to = 63, high = 0, low = 0;
	unsigned run = 0; // blocks that end at once

	explicit Decoding(const Header &h) : h(h) {
		unsigned units_across = ceil_div(h.width, 8 * most(h.across, h.components));
		unsigned units_down = ceil_div(h.height, 8 * most(h.down, h.components));
		for (unsigned c = 0; c < h.components; c++) {
			Component k;
			k.wide = ceil_div(h.width_of(c), 8);
			k.high = ceil_div(h.height_of(c), 8);
			k.stride = units_across * h.across[c];
			k.blocks.resize((size_t)k.stride * units_down * h.down[c], Block{});
			components.push_back(std::move(k));
		}
	}

	void quantisation(const uint8_t *p, size_t n) {
		while (n >= 65) {
			bool wide = p[0] >> 4 != 0;
			size_t need = wide ? 129 : 65;
			if (n < need)
				return;
			for (int k = 0; k < 64; k++)
				quant[p[0] & 3][natural[k]] = wide ? (uint16_t)(p[1 + 2 * k] << 8 | p[2 + 2 * k]) : p[1 + k];
			p += need;
			n -= need;
		}
	}

	void huffman(const uint8_t *p, size_t n) {
		while (n >= 17) {
			Codes &codes = (p[0] >> 4 ? ac : dc)[p[0] & 3];
			size_t sum = 0;
			for (int i = 1; i <= 16; i++)
				sum += codes.counts[i] = p[i];
			if (n < 17 + sum)
				return;
			codes.values.assign(p + 17, p + 17 + sum);
			p += 17 + sum;
			n -= 17 + sum;
		}
	}

	// A block of a sequential picture.
	void sequential(Bits &bits, Block &b, Component &k, const Codes &dc, const Codes &ac) {
		k.dc += bits.extend(dc.read(bits));
		b[0] = (int16_t)k.dc;
		for (unsigned i = 1; i < 64; i++) {
			unsigned rs = ac.read(bits), size = rs & 15;
			if (size == 0 && rs != 0xF0)
				return;
			i += rs >> 4;
			if (size > 0 && i < 64)
				b[natural[i]] = (int16_t)bits.extend(size);
		}
	}

	// A block of a progressive picture's first scan of some coefficients.
	void first(Bits &bits, Block &b, Component &k, const Codes &dc, const Codes &ac) {
		if (from == 0) {
			k.dc += bits.extend(dc.read(bits));
			b[0] = (int16_t)(k.dc * (1 << low));
			return;
		}
		if (run > 0) {
			run--;
			return;
		}
		for (unsigned i = from; i <= to; i++) {
			unsigned rs = ac.read(bits), size = rs & 15, zeros = rs >> 4;
			if (size == 0 && zeros < 15) {
				run = (1u << zeros) - 1 + (unsigned)bits.take(zeros);
				return;
			}
			i += zeros;
			if (size > 0 && i < 64)
				b[natural[i]] = (int16_t)(bits.extend(size) * (1 << low));
		}
	}

	// A block of a scan that makes coefficients more exact.
	void refine(Bits &bits, Block &b, const Codes &ac) {
		int one = 1 << low;
		if (from == 0) {
			if (bits.bit())
				b[0] = (int16_t)(b[0] | one);
			return;
		}
		auto correct = [&](int16_t &v) {
			if (bits.bit() && (std::abs(v) & one) == 0)
				v = (int16_t)(v < 0 ? v - one : v + one);
		};
		unsigned i = from;
		if (run == 0) {
			for (; i <= to; i++) {
				unsigned rs = ac.read(bits), zeros = rs >> 4;
				int value = 0;
				if ((rs & 15) != 0)
					value = bits.bit() ? one : -one;
				else if (zeros < 15) {
					run = (1u << zeros) + (unsigned)bits.take(zeros);
					break;
				}
				for (; i <= to; i++) {
					int16_t &v = b[natural[i]];
					if (v != 0)
						correct(v);
					else if (zeros-- == 0) {
						v = (int16_t)value;
						break;
					}
				}
			}
		}
		if (run > 0) {
			for (; i <= to; i++)
				if (b[natural[i]] != 0)
					correct(b[natural[i]]);
			run--;
		}
	}

	size_t scan(const uint8_t *p, size_t n, const uint8_t *data, size_t size, size_t at) {
		Bits bits{data, size, at};
		unsigned count = n > 0 ? p[0] : 0;
		if (count < 1 || count > 4 || n < 4 + 2 * count)
			return at;
		unsigned which[4] = {}, dcs[4] = {}, acs[4] = {};
		for (unsigned i = 0; i < count; i++) {
			for (unsigned c = 0; c < h.components; c++)
				if (h.identity[c] == p[1 + 2 * i])
					which[i] = c;
			dcs[i] = p[2 + 2 * i] >> 4 & 3;
			acs[i] = p[2 + 2 * i] & 3;
		}
		const uint8_t *q = p + 1 + 2 * count;
		from = q[0], to = std::min<unsigned>(q[1], 63), high = q[2] >> 4, low = q[2] & 15;
		bool progressive = h.frame == 0xC2;
		auto block = [&](unsigned i, size_t number) {
			Component &k = components[which[i]];
			if (!progressive)
				sequential(bits, k.blocks[number], k, dc[dcs[i]], ac[acs[i]]);
			else if (high == 0)
				first(bits, k.blocks[number], k, dc[dcs[i]], ac[acs[i]]);
			else
				refine(bits, k.blocks[number], ac[acs[i]]);
		};
		const Component &alone = components[which[0]];
		unsigned wide = count == 1 ? alone.wide : ceil_div(h.width, 8 * most(h.across, h.components));
		unsigned rows = count == 1 ? alone.high : ceil_div(h.height, 8 * most(h.down, h.components));
		run = 0;
		for (Component &k : components)
			k.dc = 0;
		for (unsigned unit = 0; unit < wide * rows; unit++) {
			if (interval > 0 && unit > 0 && unit % interval == 0) {
				bits.restart();
				run = 0;
				for (Component &k : components)
					k.dc = 0;
			}
			unsigned x = unit % wide, y = unit / wide;
			if (count == 1) {
				block(0, (size_t)y * alone.stride + x);
				continue;
			}
			for (unsigned i = 0; i < count; i++) {
				unsigned c = which[i];
				for (unsigned v = 0; v < h.down[c]; v++)
					for (unsigned u = 0; u < h.across[c]; u++)
						block(i, (size_t)(y * h.down[c] + v) * components[c].stride + x * h.across[c] + u);
			}
		}
		return bits.at;
	}
};

// One direction of the inverse transform of Loeffler, Ligtenberg and Moschytz, in
// integers with 13 bits of fraction as in libjpeg's jidctint.c: eight values
// step apart, of which the result is rounded by a shift.
static void transform(int32_t *v, int step, int shift) {
	auto at = [=](int i) -> int32_t & { return v[i * step]; };
	int32_t z1 = (at(2) + at(6)) * 4433;
	int32_t t2 = z1 - at(6) * 15137, t3 = z1 + at(2) * 6270;
	int32_t t0 = (at(0) + at(4)) * 8192, t1 = (at(0) - at(4)) * 8192;
	int32_t e0 = t0 + t3, e3 = t0 - t3, e1 = t1 + t2, e2 = t1 - t2;
	int32_t o0 = at(7), o1 = at(5), o2 = at(3), o3 = at(1);
	int32_t a = o0 + o3, b = o1 + o2, c = o0 + o2, d = o1 + o3;
	int32_t e = (c + d) * 9633;
	a *= -7373;
	b *= -20995;
	c = c * -16069 + e;
	d = d * -3196 + e;
	o0 = o0 * 2446 + a + c;
	o1 = o1 * 16819 + b + d;
	o2 = o2 * 25172 + b + c;
	o3 = o3 * 12299 + a + d;
	int32_t half = 1 << (shift - 1);
	at(0) = (e0 + o3 + half) >> shift;
	at(7) = (e0 - o3 + half) >> shift;
	at(1) = (e1 + o2 + half) >> shift;
	at(6) = (e1 - o2 + half) >> shift;
	at(2) = (e2 + o1 + half) >> shift;
	at(5) = (e2 - o1 + half) >> shift;
	at(3) = (e3 + o0 + half) >> shift;
	at(4) = (e3 - o0 + half) >> shift;
}

std::vector<Plane> decode(const Header &h, const uint8_t *data, size_t size) {
	Decoding d(h);
	Segments s{data, size};
	while (s.next()) {
		switch (s.marker) {
		case 0xDB: d.quantisation(s.body, s.length); break;
		case 0xC4: d.huffman(s.body, s.length); break;
		case 0xDD: d.interval = s.length >= 2 ? s.body[0] << 8 | s.body[1] : 0; break;
		case 0xDA: s.at = d.scan(s.body, s.length, data, size, s.at); break;
		}
	}
	std::vector<Plane> planes(h.components);
	for (unsigned c = 0; c < h.components; c++) {
		const Component &k = d.components[c];
		Plane &plane = planes[c];
		plane.width = h.width_of(c);
		plane.height = h.height_of(c);
		plane.samples.resize((size_t)plane.width * plane.height);
		for (unsigned by = 0; by < k.high; by++)
			for (unsigned bx = 0; bx < k.wide; bx++) {
				const Block &b = k.blocks[(size_t)by * k.stride + bx];
				int32_t v[64];
				for (int i = 0; i < 64; i++)
					v[i] = b[i] * d.quant[h.table[c]][i];
				for (int i = 0; i < 8; i++)
					transform(v + i, 8, 11);
				for (int i = 0; i < 8; i++)
					transform(v + 8 * i, 1, 18);
				for (unsigned y = 8 * by; y < std::min(8 * by + 8, plane.height); y++)
					for (unsigned x = 8 * bx; x < std::min(8 * bx + 8, plane.width); x++)
						plane.samples[(size_t)y * plane.width + x] = (uint8_t)std::clamp(v[8 * (y % 8) + x % 8] + 128, 0, 255);
			}
	}
	return planes;
}
