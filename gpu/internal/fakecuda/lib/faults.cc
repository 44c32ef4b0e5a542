#include "fake.h"

#include <cstdlib>
#include <cstring>
#include <map>

std::recursive_mutex everything;

long long setting(const char *name, long long otherwise) {
	const char *value = getenv((std::string("FAKECUDA_") + name).c_str());
	return value != nullptr && *value != 0 ? strtoll(value, nullptr, 10) : otherwise;
}

// One of FAKECUDA_FAIL's, which are apart by commas: FUNCTION:N:CODE for the N-th
// call, FUNCTION:N+:CODE for that and all behind it.
struct Fault {
	std::string function;
	long long first;
	bool lasting;
	CUresult code;
};

static std::vector<Fault> faults_in(const std::string &text) {
	std::vector<Fault> found;
	for (size_t at = 0; at < text.size();) {
		size_t end = std::min(text.find(',', at), text.size());
		std::string one = text.substr(at, end - at);
		size_t colon = one.find(':'), last = one.rfind(':');
		if (colon == std::string::npos || last == colon) {
			fprintf(stderr, "fakecuda: FAKECUDA_FAIL: %s is not FUNCTION:N:CODE\n", one.c_str());
			abort();
		}
		found.push_back({one.substr(0, colon), atoll(one.c_str() + colon + 1), one[last - 1] == '+',
				 (CUresult)atoi(one.c_str() + last + 1)});
		at = end + 1;
	}
	return found;
}

// ends says whether a code is one after which a context is of no use.
static bool ends(CUresult code) {
	return code == CUDA_ERROR_ILLEGAL_ADDRESS || code == CUDA_ERROR_LAUNCH_TIMEOUT || code == CUDA_ERROR_ASSERT ||
	       (code >= CUDA_ERROR_HARDWARE_STACK_ERROR && code <= CUDA_ERROR_LAUNCH_FAILED);
}

CUresult fault(std::string function) {
	static std::string text;
	static std::vector<Fault> faults;
	static std::map<std::string, long long> calls;
	const char *now = getenv("FAKECUDA_FAIL");
	if (text != (now != nullptr ? now : "")) {
		text = now != nullptr ? now : "";
		faults = faults_in(text);
		calls.clear();
	}
	// cuda.h gives some names a version, which nobody has in mind.
	function = function.substr(0, function.find("_v"));
	long long n = ++calls[function];
	for (const Fault &f : faults)
		if (f.function == function && (n == f.first || (f.lasting && n > f.first)))
			return ends(f.code) ? lose(f.code) : f.code;
	return CUDA_SUCCESS;
}
