package gpu

import "github.com/tfrec/tfrec/gpu/internal/cuda"

// Info describes a GPU.
type Info = cuda.Info

// Driver is the NVIDIA driver and the GPUs that it finds.
type Driver = cuda.Driver

// Survey describes the driver and its GPUs, without using them. Errors wrap ErrNotBuilt,
// ErrNoDriver or ErrOldDriver.
func Survey() (Driver, error) { return cuda.Survey() }

// FreeMemory opens a GPU for a moment and returns its free memory in bytes. Errors are errors of
// opening it.
func FreeMemory(index int) (free int64, err error) {
	d, err := cuda.Open(index)
	if err != nil {
		return 0, err
	}
	free, _, err = d.Memory()
	if closing := d.Close(); err == nil {
		err = closing
	}
	return free, err
}
