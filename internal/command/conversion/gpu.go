package conversion

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/plural"
)

// gpuMode is --gpu.
type gpuMode string

const (
	gpuOff  gpuMode = "off"
	gpuAuto gpuMode = "auto"
	gpuOn   gpuMode = "on"
)

// gpuUse is the use of a GPU: --gpu and --gpu-decode.
type gpuUse struct {
	when   gpuMode
	decode bool
}

// check returns an error for GPU flags without work for a GPU.
func (u gpuUse) check(cmd *cobra.Command, o *convert.ImageOptions) error {
	changed := cmd.Flags().Changed
	if u.decode {
		if u.when == gpuOff {
			return cli.UsageError("--gpu-decode: give --gpu auto or --gpu on with it, or --gpu-decode=false")
		}
		if kept := o.Encode.Format == "" && !changed("resize") && !changed("augment") && !changed("channels") && !changed("background"); kept || o.Encode.Format == convert.Keep {
			return cli.UsageError("--gpu-decode: nothing needs decoding: --encode keep stores images unchanged; give --resize, --augment or another --encode")
		}
		return nil
	}
	if u.when != gpuOff && !changed("resize") && !changed("augment") && o.Encode.Format != convert.Float32 {
		return cli.UsageError("--gpu: nothing to do on a GPU without --resize, --augment or --encode float32")
	}
	return nil
}

// run converts with a GPU, if the flags allow one and the machine has one, and reports its share. A
// plan needs one only to know the decoder.
func (u gpuUse) run(o *convert.ImageOptions, work func() (*convert.Summary, error)) (*convert.Summary, error) {
	if u.when == gpuOff || o.DryRun && !u.decode {
		return work()
	}
	say := o.Note
	if say == nil {
		say = func(string) {}
	}
	var one sync.Mutex // the backend's notes come from its users' goroutines
	note := func(s string) {
		one.Lock()
		defer one.Unlock()
		say(s)
	}
	o.Note = note
	backend, err := u.open(note)
	if err != nil {
		return nil, err
	}
	if backend == nil {
		return work()
	}
	o.Backend, o.BackendDecodes = backend, backend.Decoder() != ""
	sum, err := work()
	if s := backend.Stats(); err == nil && s.GPU+s.CPU > 0 {
		note(gpuShare(backend.Device().Name, s))
		if o.BackendDecodes {
			note(decodingShare(sum.Decoded, s))
		}
	}
	// Failures of the GPU that matter were reported before.
	_ = backend.Close()
	return sum, err
}

// open opens the GPU. If the CPU must do its work, it notes the reason and returns nil. Without
// nvJPEG the GPU does everything but decode.
func (u gpuUse) open(note func(string)) (*gpu.Backend, error) {
	o := gpu.Options{Required: u.when == gpuOn, Decode: u.decode, Note: note}
	backend, err := gpu.Open(o)
	switch {
	case err == nil:
		return backend, nil
	case u.when == gpuOn && errors.Is(err, gpu.ErrNoNVJPEG):
		return nil, fmt.Errorf("--gpu on --gpu-decode: %w", err)
	case u.when == gpuOn:
		return nil, fmt.Errorf("--gpu on: %w", err)
	case u.decode && errors.Is(err, gpu.ErrNoNVJPEG):
		note(fmt.Sprintf("%v: the CPU decodes", err))
		o.Decode = false
		if backend, err = gpu.Open(o); err == nil {
			return backend, nil
		}
	}
	note(fmt.Sprintf("%v: continuing on the CPU", err))
	return nil, nil
}

// gpuShare reports what GPU and CPU did.
func gpuShare(name string, s gpu.Stats) string {
	text := fmt.Sprintf("%s on %s", plural.Of(s.GPU, "image"), name)
	if s.CPU == 0 {
		return text
	}
	var why []string
	for _, what := range slices.Sorted(maps.Keys(s.Lacking)) {
		why = append(why, fmt.Sprintf("%s %d", what, s.Lacking[what]))
	}
	if s.NoRoom > 0 {
		why = append(why, fmt.Sprintf("for lack of memory %d", s.NoRoom))
	}
	text += fmt.Sprintf(", %d on the CPU", s.CPU)
	if len(why) > 0 {
		text += " (" + strings.Join(why, ", ") + ")"
	}
	return text
}

// decodingShare reports how many images each decoder decoded, and why the CPU took over from the
// GPU.
func decodingShare(decoded map[string]int64, s gpu.Stats) string {
	var by, why []string
	for _, name := range slices.Sorted(maps.Keys(decoded)) {
		by = append(by, fmt.Sprintf("%s %d", name, decoded[name]))
	}
	text := "decoded by: " + strings.Join(by, ", ")
	for _, reason := range slices.Sorted(maps.Keys(s.Refused)) {
		why = append(why, fmt.Sprintf("%s: %d", reason, s.Refused[reason]))
	}
	if s.FellBack > 0 {
		why = append(why, fmt.Sprintf("the GPU failed or lacked memory: %d, whose shards the same command rewrites when the GPU works again", s.FellBack))
	}
	if s.Skipped > 0 {
		why = append(why, fmt.Sprintf("nvJPEG reported success for an image that it skipped: %d, decoded again", s.Skipped))
	}
	if len(why) > 0 {
		text += " (" + strings.Join(why, "; ") + ")"
	}
	return text
}
