// The kernels of package gputest.
#include "../../gputest/probe.cu"

#include "unit.h"

KERNEL(probe_affine)
KERNEL(probe_place)
KERNEL(probe_through)
