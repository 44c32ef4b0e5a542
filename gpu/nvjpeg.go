package gpu

import (
	"errors"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
)

// ErrNoNVJPEG means that nvJPEG is not installed, or does not work with the GPU.
var ErrNoNVJPEG = nvjpeg.ErrAbsent

// NVJPEG describes the installed nvJPEG, and its backends on a GPU.
type NVJPEG struct {
	// Library is the file, such as "libnvjpeg.so.12", Version such as "12.2.2".
	Library, Version string
	// Backends are of "hardware" (the chip's own JPEG decoder), "GPU" and "hybrid"
	// (the CPU decodes Huffman codes).
	Backends []string
}

// FindNVJPEG looks for nvJPEG and opens a GPU for a moment to find its backends there. Errors wrap
// ErrNoNVJPEG or are those of opening the GPU.
func FindNVJPEG(index int) (found NVJPEG, err error) {
	device, err := cuda.Open(index)
	if err != nil {
		return NVJPEG{}, err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	library, err := nvjpeg.Open()
	if err != nil {
		return NVJPEG{}, err
	}
	stream, err := device.NewStream()
	if err != nil {
		return NVJPEG{}, err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	backends, err := library.Backends(stream)
	if err != nil {
		return NVJPEG{}, err
	}
	found = NVJPEG{Library: library.Name(), Version: library.Version()}
	for _, b := range backends {
		found.Backends = append(found.Backends, b.String())
	}
	return found, nil
}
