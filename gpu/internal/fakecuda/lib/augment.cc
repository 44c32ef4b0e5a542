// The kernels of package gpu.
#include "kernels.cu"

#include "unit.h"

#define ONE(name) KERNEL(tfrec_##name)
TFREC_KERNELS(ONE)
