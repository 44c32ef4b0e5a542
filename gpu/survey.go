package gpu

import "github.com/tfrec/tfrec/gpu/internal/cuda"

// Info describes a GPU.
type Info = cuda.Info

// Driver is the NVIDIA driver and the GPUs that it finds.
type Driver = cuda.Driver

// Survey describes the driver and its GPUs, without using them. Errors wrap ErrNotBuilt,
// ErrNoDriver or ErrOldDriver.
func Survey() (Driver, error) { return cuda.Survey() }
