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
	// Missing are the other ones.
	Missing []MissingBackend
}

// MissingBackend is a backend of nvJPEG that a GPU does not have, or that fails there.
type MissingBackend struct {
	// Backend is "hardware", "GPU" or "hybrid".
	Backend string
	// Failed is false where the GPU has no such decoder: then nothing is amiss.
	Failed bool
	// Reason is nvJPEG's answer, such as "architecture mismatch (7)".
	Reason string
}

// FindNVJPEG looks for nvJPEG and opens a GPU for a moment to find its backends there. Errors wrap
// ErrNoNVJPEG or are errors of opening the GPU.
func FindNVJPEG(index int) (found NVJPEG, err error) {
	device, err := cuda.Open(index)
	if err != nil {
		return NVJPEG{}, err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	library, err := openNVJPEG(device)
	if err != nil {
		return NVJPEG{}, err
	}
	found = NVJPEG{Library: library.Name(), Version: library.Version()}
	for _, b := range library.Backends() {
		found.Backends = append(found.Backends, b.String())
	}
	for _, m := range library.Missing() {
		found.Missing = append(found.Missing, MissingBackend{Backend: m.Backend.String(), Failed: m.Failed, Reason: m.Reason})
	}
	return found, nil
}

// openNVJPEG finds the nvJPEG that works on a GPU, with a stream for the moment.
func openNVJPEG(d *cuda.Device) (l *nvjpeg.Library, err error) {
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return nvjpeg.Open(s)
}
