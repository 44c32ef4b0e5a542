#include "fake.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

// An allocation ends where a page begins that nobody may touch, but for up to 15
// bytes: kernels may read 16 at a time, so its address is a multiple of that.
struct Allocation {
	size_t bytes;
	uint8_t *mapping;
	size_t mapped;
};

static const size_t page = 4096, alignment = 16;
static const uint8_t garbage = 0xA5;
static std::map<uintptr_t, Allocation> living[2];

uintptr_t allocate(Kind kind, size_t bytes) {
	if (bytes == 0 || (kind == device_memory && used(kind) + bytes > (size_t)setting("MEMORY", 1 << 30)))
		return 0;
	size_t padded = (bytes + alignment - 1) / alignment * alignment;
	size_t pages = (padded + page - 1) / page * page;
	Allocation a{bytes, nullptr, pages + 2 * page};
	void *p = mmap(nullptr, a.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	a.mapping = (uint8_t *)p;
	if (mprotect(a.mapping + page, pages, PROT_READ | PROT_WRITE) != 0) {
		munmap(p, a.mapped);
		return 0;
	}
	memset(a.mapping + page, garbage, pages);
	uintptr_t address = (uintptr_t)a.mapping + page + pages - padded;
	living[kind][address] = a;
	return address;
}

bool release(Kind kind, uintptr_t address) {
	auto found = living[kind].find(address);
	if (found == living[kind].end())
		return false;
	const Allocation &a = found->second;
	const uint8_t *start = a.mapping + page, *end = a.mapping + a.mapped - page;
	for (const uint8_t *p = start; p < end; p++) {
		if ((uintptr_t)p >= address && (uintptr_t)p < address + a.bytes)
			p = (const uint8_t *)address + a.bytes;
		if (p < end && *p != garbage) {
			fprintf(stderr, "fakecuda: somebody wrote %td bytes from the start of an allocation of %zu bytes\n",
				(ptrdiff_t)((uintptr_t)p - address), a.bytes);
			abort();
		}
	}
	munmap(a.mapping, a.mapped);
	living[kind].erase(found);
	return true;
}

bool holds(Kind kind, uintptr_t address, size_t bytes) {
	auto after = living[kind].upper_bound(address);
	if (after == living[kind].begin())
		return false;
	auto found = std::prev(after);
	size_t at = address - found->first;
	return at <= found->second.bytes && bytes <= found->second.bytes - at;
}

size_t allocations(Kind kind) { return living[kind].size(); }

size_t used(Kind kind) {
	size_t sum = 0;
	for (const auto &one : living[kind])
		sum += one.second.bytes;
	return sum;
}

size_t release_all(Kind kind) {
	size_t n = living[kind].size();
	while (!living[kind].empty())
		release(kind, living[kind].begin()->first);
	return n;
}
