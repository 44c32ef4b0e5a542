// A JPEG decoder for the fake nvJPEG: baseline and progressive pictures in Huffman
// coding, to planes as they are stored, by the accurate integer transform that
// libjpeg has. It is written for whole pictures: of damage it makes gray.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Plane is a component: its samples, rows close together.
struct Plane {
	unsigned width = 0, height = 0;
	std::vector<uint8_t> samples;
};

// Header is what a picture's frame header says.
struct Header {
	unsigned frame = 0; // the marker, such as 0xC0
	unsigned bits = 0, width = 0, height = 0, components = 0;
	unsigned identity[4] = {}, across[4] = {}, down[4] = {}, table[4] = {};

	// The size of a component, as stored.
	unsigned width_of(unsigned c) const;
	unsigned height_of(unsigned c) const;
};

// read_header finds the first frame header, and says whether there is one and the
// picture has an end.
enum class Reading { whole, incomplete, none };
Reading read_header(Header &h, const uint8_t *data, size_t size);

// decode returns the planes of a picture that read_header found whole.
std::vector<Plane> decode(const Header &h, const uint8_t *data, size_t size);
