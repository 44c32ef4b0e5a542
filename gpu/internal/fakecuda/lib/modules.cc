#include "fake.h"

#include <cctype>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>

// A module is PTX: which kernels it has, it says; what they do is compiled in.
struct Module {
	std::set<std::string> entries;
};

struct Function {
	const Kernel *kernel;
	CUmodule module;
};

static std::map<CUmodule, Module> living_modules;
static std::map<CUfunction, Function> functions;
static uintptr_t next_handle = 0x100000;
static int64_t ran;

static std::map<std::string, Kernel> &registry() {
	static std::map<std::string, Kernel> kernels;
	return kernels;
}

Registration::Registration(Kernel k) { registry()[k.name] = k; }

size_t modules() { return living_modules.size(); }
int64_t launches() { return ran; }

void forget_modules() {
	living_modules.clear();
	functions.clear();
}

// after returns where the text goes on behind a word, from a place on, or npos.
static size_t after(const std::string &text, const char *word, size_t from = 0) {
	size_t at = text.find(word, from);
	return at == std::string::npos ? at : at + strlen(word);
}

// The drivers that take a version of PTX: 8.2 came with CUDA 12.2, 7.8 with 11.8.
static bool takes(int driver, int major, int minor) { return driver >= (major + 4) * 1000 + minor * 10; }

EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
	ENTER_CONTEXT(cuModuleLoadData);
	std::string text = (const char *)image;
	int major, minor, target;
	size_t version = after(text, ".version "), architecture = after(text, ".target sm_");
	if (version == std::string::npos || architecture == std::string::npos ||
	    sscanf(text.c_str() + version, "%d.%d", &major, &minor) != 2 || sscanf(text.c_str() + architecture, "%d", &target) != 1)
		return CUDA_ERROR_INVALID_PTX;
	if (!takes((int)setting("DRIVER", 12020), major, minor))
		return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
	if (target > setting("CAPABILITY", 90))
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	Module m;
	for (size_t at = 0; (at = after(text, ".entry ", at)) != std::string::npos;) {
		size_t end = at;
		while (isalnum((unsigned char)text[end]) || text[end] == '_')
			end++;
		m.entries.insert(text.substr(at, end - at));
	}
	*module = (CUmodule)(next_handle += 16);
	living_modules[*module] = m;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleUnload(CUmodule module) {
	ENTER_CONTEXT(cuModuleUnload);
	for (auto f = functions.begin(); f != functions.end();)
		f = f->second.module == module ? functions.erase(f) : std::next(f);
	return living_modules.erase(module) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
	ENTER_CONTEXT(cuModuleGetFunction);
	auto m = living_modules.find(module);
	if (m == living_modules.end())
		return CUDA_ERROR_INVALID_HANDLE;
	auto k = registry().find(name);
	if (m->second.entries.count(name) == 0 || k == registry().end())
		return CUDA_ERROR_NOT_FOUND;
	*function = (CUfunction)(next_handle += 16);
	functions[*function] = Function{&k->second, module};
	return CUDA_SUCCESS;
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
			       unsigned shared, CUstream stream, void **parameters, void **extra) {
	ENTER_CONTEXT(cuLaunchKernel);
	auto f = functions.find(function);
	if (f == functions.end())
		return CUDA_ERROR_INVALID_HANDLE;
	const Kernel *k = f->second.kernel;
	uint64_t threads = (uint64_t)bx * by * bz;
	if (gx == 0 || gy == 0 || gz == 0 || gx > 0x7fffffff || gy > 65535 || gz > 65535 || threads == 0 || threads > 1024 || bx > 1024 ||
	    by > 1024 || bz > 64 || shared != 0 || extra != nullptr)
		return CUDA_ERROR_INVALID_VALUE;
	// As the driver does, take the parameters now.
	auto values = std::make_shared<std::vector<uint64_t>>(k->parameters.size());
	for (size_t i = 0; i < values->size(); i++)
		memcpy(&(*values)[i], parameters[i], k->parameters[i]);
	return enqueue(stream, [=] {
		ran++;
		if (CUresult answer = fault("kernel"); answer != CUDA_SUCCESS)
			return answer;
		std::vector<void *> pointers;
		for (uint64_t &v : *values)
			pointers.push_back(&v);
		k->run({gx, gy, gz}, {bx, by, bz}, pointers.data());
		return CUDA_SUCCESS;
	});
}
