package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/size"
)

// gpuResult is the output of `gpu --json`.
type gpuResult struct {
	// Usable reports whether there is a GPU that --gpu on would use; Reason explains why not.
	Usable bool   `json:"usable"`
	Reason string `json:"reason,omitempty"`
	// Driver is the CUDA version that the driver is for, "" without one.
	Driver string `json:"driver"`
	// NoVideo is the reason why the driver's library for video, which nvJPEG needs for a GPU's JPEG
	// decoder, does not load.
	NoVideo string      `json:"no_video,omitempty"`
	Devices []gpuDevice `json:"devices"`
}

type gpuDevice struct {
	Index           int    `json:"index"`
	Name            string `json:"name"`
	UUID            string `json:"uuid"`
	Memory          int64  `json:"memory"`      // bytes, all of them
	MemoryFree      int64  `json:"memory_free"` // bytes not in use; 0 if the device is not usable
	Capability      string `json:"compute_capability"`
	Multiprocessors int    `json:"multiprocessors"`
	CopyEngines     int    `json:"copy_engines"`
	Usable          bool   `json:"usable"`
	Reason          string `json:"reason,omitempty"`
	// NVJPEG describes the JPEG decoder for the device; NoNVJPEG is the reason why there is none.
	NVJPEG   *gpuNVJPEG `json:"nvjpeg,omitempty"`
	NoNVJPEG string     `json:"no_nvjpeg,omitempty"`
}

type gpuNVJPEG struct {
	Library  string   `json:"library"`
	Version  string   `json:"version"`
	Backends []string `json:"backends"`
	// Missing are the other backends.
	Missing []gpuMissing `json:"missing,omitempty"`
}

// gpuMissing is a backend that the GPU does not have, or that failed to start there.
type gpuMissing struct {
	Backend string `json:"backend"`
	Failed  bool   `json:"failed"`
	Reason  string `json:"reason"`
}

func newGPUCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "gpu",
		GroupID: cli.GroupUse,
		Short:   "List NVIDIA GPUs, or say why none is used",
		Long: `List the NVIDIA driver and GPUs, how much of their memory is free, whether they can
be used and what nvJPEG supports on them; or say why no GPU is used. Having no GPU is
not a failure: the processor does everything that a GPU does, with the same bytes
except for what nvJPEG decodes.

A GPU is for heavy policies, many copies of each image and floats, or, with
convert images --gpu-decode, for decoding. Where JPEGs are only resized and encoded
again, the processor spends its time on JPEG, and a GPU is not worth it.`,
		Args:              cli.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := findGPUs()
			if cli.JSONFlag(cmd) {
				return cli.PrintJSON(cmd, r)
			}
			writeGPUs(cmd.OutOrStdout(), r)
			return nil // resultWriter keeps errors
		},
	}
}

// findGPUs looks for GPUs and opens each for a moment.
func findGPUs() gpuResult {
	r := gpuResult{Devices: []gpuDevice{}}
	driver, err := gpu.Survey()
	if err != nil {
		r.Reason = err.Error()
		return r
	}
	r.Driver, r.NoVideo = driver.Version, driver.NoVideo
	for _, info := range driver.Devices {
		d := gpuDevice{
			Index: info.Index, Name: info.Name, UUID: info.UUID, Memory: info.Memory,
			Capability:      fmt.Sprintf("%d.%d", info.Major, info.Minor),
			Multiprocessors: info.Multiprocessors, CopyEngines: info.CopyEngines,
		}
		if d.MemoryFree, err = gpu.FreeMemory(info.Index); err != nil {
			d.Reason = err.Error()
			if r.Reason == "" {
				r.Reason = d.Reason
			}
		} else {
			d.Usable, r.Usable = true, true
			if j, err := gpu.FindNVJPEG(info.Index); err != nil {
				d.NoNVJPEG = err.Error()
			} else {
				d.NVJPEG = &gpuNVJPEG{Library: j.Library, Version: j.Version, Backends: j.Backends}
				for _, m := range j.Missing {
					d.NVJPEG.Missing = append(d.NVJPEG.Missing, gpuMissing(m))
				}
			}
		}
		r.Devices = append(r.Devices, d)
	}
	if r.Usable {
		r.Reason = ""
	}
	return r
}

func writeGPUs(w io.Writer, r gpuResult) {
	if len(r.Devices) == 0 {
		fmt.Fprintf(w, "No GPU is used: %s\n", r.Reason)
		return
	}
	fmt.Fprintf(w, "NVIDIA driver: for CUDA %s\n", r.Driver)
	if r.NoVideo != "" {
		fmt.Fprintf(w, "No library for video (%s): nvJPEG needs it for the JPEG decoder of a GPU that has one; "+
			"install it, or start the container with video in NVIDIA_DRIVER_CAPABILITIES\n", r.NoVideo)
	}
	for _, d := range r.Devices {
		fmt.Fprintf(w, "GPU %d: %s, compute capability %s, %s, %s", d.Index, d.Name, d.Capability,
			plural.Of(d.Multiprocessors, "multiprocessor"), size.Format(d.Memory))
		if !d.Usable {
			fmt.Fprintf(w, "; not used: %s\n", d.Reason)
			continue
		}
		fmt.Fprintf(w, " of which %s are free\n", size.Format(d.MemoryFree))
		if d.NVJPEG != nil {
			fmt.Fprintf(w, "  nvJPEG %s (%s): %s\n", d.NVJPEG.Version, d.NVJPEG.Library, strings.Join(d.NVJPEG.Backends, ", "))
			for _, m := range d.NVJPEG.Missing {
				if m.Failed {
					fmt.Fprintf(w, "  nvJPEG's backend %q does not start: %s\n", m.Backend, m.Reason)
				}
			}
		} else {
			fmt.Fprintf(w, "  %s\n", d.NoNVJPEG)
		}
	}
}
