// The parts of the fake driver: see doc.go of the package above for what it does.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

// Held by every call: the driver does one thing at a time.
extern std::recursive_mutex everything;

// faults.cc: what the environment asks for.

// setting returns FAKECUDA_name as a number, or what it is by default.
long long setting(const char *name, long long otherwise);
// fault counts a call of a function and returns what FAKECUDA_FAIL says that it
// answers.
CUresult fault(std::string function);

// memory.cc: what stands for the memory of a GPU, and for pinned memory.

enum Kind { device_memory, pinned_memory };
// allocate returns 0 where there is no memory left. Contents are 0xA5.
uintptr_t allocate(Kind kind, size_t bytes);
// release ends the process where somebody wrote past the allocation.
bool release(Kind kind, uintptr_t address);
// holds says whether all of a range lies in one allocation.
bool holds(Kind kind, uintptr_t address, size_t bytes);
size_t allocations(Kind kind);
size_t used(Kind kind);
// release_all forgets every allocation of the kind and returns how many.
size_t release_all(Kind kind);

// queue.cc: streams and events.

using Work = std::function<CUresult()>;
CUresult enqueue(CUstream stream, Work work);
CUresult drain_all();
bool known(CUstream stream);
size_t streams();
size_t events();
void forget_streams();
int64_t waits();
int64_t spinning_waits();

// modules.cc: the kernels that were compiled in.

struct Dim {
	unsigned x, y, z;
};
struct Kernel {
	const char *name;
	std::vector<size_t> parameters; // their sizes
	void (*run)(Dim grid, Dim block, void **parameters);
};
struct Registration {
	explicit Registration(Kernel k);
};
const Kernel *kernel_named(const std::string &name);

// context.cc

// usable says whether the thread has a context, and the context a future.
CUresult usable();
// lose ends the context's usefulness, as a kernel that fails does.
CUresult lose(CUresult why);
bool lost();
// sleeping_context says whether waits in the thread's context sleep.
bool sleeping_context();

#define EXPORT extern "C" __attribute__((visibility("default")))
// What every function begins with.
#define ENTER(function)                                                \
	std::lock_guard<std::recursive_mutex> held(everything);        \
	if (CUresult answer = fault(#function); answer != CUDA_SUCCESS) \
	return answer
#define ENTER_CONTEXT(function)                            \
	ENTER(function);                                   \
	if (CUresult answer = usable(); answer != CUDA_SUCCESS) \
	return answer
