#include "hooks.h"

#include "fake.h"

#include <memory>

static int64_t alive;
static bool used_once;
bool nvjpeg_used() { return used_once; }
int64_t objects() { return alive; }

static int64_t allocated;
int64_t nvjpeg_allocations() { return allocated; }

EXPORT int fakecuda_fault(const char *function) {
	std::lock_guard<std::recursive_mutex> held(everything);
	return fault(function);
}

EXPORT long long fakecuda_setting(const char *name, long long otherwise) { return setting(name, otherwise); }

EXPORT int fakecuda_context(void) {
	std::lock_guard<std::recursive_mutex> held(everything);
	return usable();
}

EXPORT int fakecuda_holds(uintptr_t address, size_t bytes) {
	std::lock_guard<std::recursive_mutex> held(everything);
	return holds(device_memory, address, bytes);
}

EXPORT int fakecuda_enqueue(void *stream, int (*work)(void *), void (*forget)(void *), void *argument) {
	std::lock_guard<std::recursive_mutex> held(everything);
	std::shared_ptr<void> kept(argument, forget);
	return enqueue((CUstream)stream, [work, kept] { return (CUresult)work(kept.get()); });
}

EXPORT void fakecuda_object(int by) {
	std::lock_guard<std::recursive_mutex> held(everything);
	alive += by;
	used_once = true;
}

EXPORT void fakecuda_allocation(void) {
	std::lock_guard<std::recursive_mutex> held(everything);
	allocated++;
}
