// Included behind a .cu file in its unit: makes its kernels known. The unit's
// index variables (threadIdx and so on) are set for one thread after another.
#pragma once

#include "fake.h"

#include <utility>

template <class> struct Launcher;

template <class... A> struct Launcher<void (*)(A...)> {
	static std::vector<size_t> sizes() {
		static_assert(((sizeof(A) <= 8) && ...), "parameters of kernels have 8 bytes");
		return {sizeof(A)...};
	}

	template <void (*kernel)(A...)> static void run(Dim grid, Dim block, void **parameters) {
		run<kernel>(grid, block, parameters, std::index_sequence_for<A...>());
	}

	template <void (*kernel)(A...), size_t... I>
	static void run(Dim grid, Dim block, void **parameters, std::index_sequence<I...>) {
		gridDim = {grid.x, grid.y, grid.z};
		blockDim = {block.x, block.y, block.z};
		for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
			for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
				for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
					for (threadIdx.z = 0; threadIdx.z < block.z; threadIdx.z++)
						for (threadIdx.y = 0; threadIdx.y < block.y; threadIdx.y++)
							for (threadIdx.x = 0; threadIdx.x < block.x; threadIdx.x++)
								kernel(*(std::remove_const_t<A> *)parameters[I]...);
	}
};

#define KERNEL(kernel)                               \
	static const Registration known_##kernel({#kernel, Launcher<decltype(&kernel)>::sizes(), \
						  Launcher<decltype(&kernel)>::run<&kernel>});
