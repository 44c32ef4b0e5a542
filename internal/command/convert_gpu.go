package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/gpu"
)

// gpuMode is --gpu.
type gpuMode string

const (
	gpuOff  gpuMode = "off"
	gpuAuto gpuMode = "auto"
	gpuOn   gpuMode = "on"
)

func parseGPU(s string) (gpuMode, error) {
	switch m := gpuMode(s); m {
	case gpuOff, gpuAuto, gpuOn:
		return m, nil
	}
	return "", fmt.Errorf("want auto, on or off")
}

// check refuses a GPU with nothing to do.
func (m gpuMode) check(cmd *cobra.Command, o *convert.ImageOptions) error {
	changed := cmd.Flags().Changed
	if m != gpuOff && !changed("resize") && !changed("augment") && o.Encode != convert.Float32 {
		return usageError("--gpu: there is no --resize, --augment or --encode float32 for it to do")
	}
	return nil
}

// run converts with a GPU, if mode and machine have it so, and says how much that did.
func (m gpuMode) run(o *convert.ImageOptions, work func() (*convert.Summary, error)) (*convert.Summary, error) {
	if m == gpuOff || o.DryRun {
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
	backend, err := gpu.Open(gpu.Options{Required: m == gpuOn, Note: note})
	if err != nil {
		if m == gpuOn {
			return nil, fmt.Errorf("--gpu on: %w", err)
		}
		note(fmt.Sprintf("%v: going on on the CPU", err))
		return work()
	}
	o.Backend = backend
	sum, err := work()
	if s := backend.Stats(); err == nil && s.GPU+s.CPU > 0 {
		note(gpuShare(backend.Device().Name, s))
	}
	// What a GPU failed at was told where it mattered.
	_ = backend.Close()
	return sum, err
}

// gpuShare says who did what.
func gpuShare(name string, s gpu.Stats) string {
	text := fmt.Sprintf("%s on %s", count(s.GPU, "picture"), name)
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
