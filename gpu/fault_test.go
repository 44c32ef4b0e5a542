//go:build cuda && linux && amd64 && cgo

package gpu_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/augment/backendtest"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
)

func TestFaultsOfOpen(t *testing.T) {
	fakecuda.Use(t)
	for _, c := range []struct {
		name, variable, value string
		kind                  error
	}{
		{"no GPU", "DEVICES", "0", gpu.ErrNoDevice},
		{"a driver that is too old", "DRIVER", "11020", gpu.ErrOldDriver},
		{"no room", "FAIL", "cuStreamCreate:2:2", gpu.ErrOutOfMemory},
		{"no thread for it", "FAIL", "cuEventCreate:3:2", gpu.ErrOutOfMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakecuda.Set(t, c.variable, c.value)
			b, err := gpu.Open(gpu.Options{})
			if b != nil || !errors.Is(err, c.kind) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Open: %v; want one clear sentence that wraps %q", err, c.kind)
			}
		})
	}
}

// TestOutOfMemory has batches that don't fit: halves of them do, or else the CPU
// takes what is too much alone.
func TestOutOfMemory(t *testing.T) {
	fakecuda.Use(t)
	for _, c := range []struct {
		name, memory   string
		halved, noRoom bool
	}{
		{"halves fit", "1500000", true, false},
		{"few fit", "120000", true, true},
		{"none fits", "1000", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, gpu.Options{Required: true, Streams: 2, Memory: 1 << 20})
			fakecuda.Set(t, "MEMORY", c.memory)
			backendtest.Run(t, b, 300)
			if s := b.Stats(); (s.Halved > 0) != c.halved || (s.NoRoom > 0) != c.noRoom || s.Failure != nil {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestFailure is a kernel, a launch or a copy that fails in the middle of the work:
// the CPU goes on, with nothing lost and one sentence about it.
func TestFailure(t *testing.T) {
	for _, fault := range []string{"kernel:40:719", "cuLaunchKernel:40:719", "kernel:1:700", "cuMemcpyHtoDAsync:5:719", "cuMemcpyDtoHAsync:1:719"} {
		t.Run(fault, func(t *testing.T) {
			fakecuda.Use(t)
			var mu sync.Mutex
			var notes []string
			b := open(t, gpu.Options{Note: func(s string) {
				mu.Lock()
				defer mu.Unlock()
				notes = append(notes, s)
			}})
			fakecuda.Set(t, "FAIL", fault)
			backendtest.Run(t, b, 300)
			s := b.Stats()
			if len(notes) != 1 || !strings.HasSuffix(notes[0], ": going on on the CPU") || strings.Contains(notes[0], "\n") {
				t.Errorf("notes %q; want one sentence", notes)
			}
			if s.Failure == nil || s.CPU < 100 || !strings.HasPrefix(notes[0], s.Failure.Error()) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestFailureOfRequired is the same where there must be a GPU: Render says so, then and
// ever after.
func TestFailureOfRequired(t *testing.T) {
	fakecuda.Use(t)
	b := open(t, gpu.Options{Required: true, Note: func(s string) { t.Errorf("note %q", s) }})
	fakecuda.Set(t, "FAIL", "kernel:2:719")
	task := func() *augment.Task {
		im := new(augment.Image)
		im.Reset(40, 30, 3)
		return &augment.Task{Image: im, Resize: &augment.ResizeSpec{Width: 7, Height: 9}}
	}
	for i := range 3 {
		err := b.Render([]*augment.Task{task()})
		if !errors.Is(err, gpu.ErrFailed) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("Render %d: %v; want one that wraps %q", i, err, gpu.ErrFailed)
		}
	}
}
