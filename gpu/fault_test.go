//go:build cuda && linux && amd64 && cgo

package gpu_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
	"github.com/tfrec/tfrec/internal/dev/backendtest"
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
// takes what is too much alone. Streams share the GPU's memory: only where there is one
// is it sure that halves fit.
func TestOutOfMemory(t *testing.T) {
	fakecuda.Use(t)
	for _, c := range []struct {
		name, memory   string
		streams        int
		halved, noRoom bool
	}{
		{"halves fit", "1500000", 1, true, false},
		{"few fit", "120000", 2, true, true},
		{"none fits", "1000", 2, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, gpu.Options{Required: true, Streams: c.streams, Memory: 1 << 20})
			fakecuda.Set(t, "MEMORY", c.memory)
			backendtest.Run(t, b, 300)
			if s := b.Stats(); (s.Halved > 0) != c.halved || (s.NoRoom > 0) != c.noRoom || s.Failure != nil {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestOutOfMemoryHalfway has no memory for what follows the copy of a batch, which
// is still queued when halves of it take over its buffers.
func TestOutOfMemoryHalfway(t *testing.T) {
	for _, fault := range []string{"cuLaunchKernel:1:2", "cuLaunchKernel:3:2", "cuMemcpyDtoHAsync:1:2", "cuEventRecord:1:2"} {
		t.Run(fault, func(t *testing.T) {
			fakecuda.Use(t)
			b := open(t, gpu.Options{Required: true, Streams: 1})
			var tasks []*augment.Task
			for i := range 8 {
				im := new(augment.Image)
				im.Reset(30+i, 20+i, 3)
				for j := range im.Pix {
					im.Pix[j] = uint8(j * (i + 1))
				}
				steps := []augment.Step{augment.Contrast{Factor: 1.7}, augment.ResizeTo{Width: 9 + i, Height: 9, Antialias: true}}
				tasks = append(tasks, &augment.Task{Image: im, Draw: augment.Draw{Steps: steps}})
			}
			fakecuda.Set(t, "FAIL", fault)
			if err := b.Render(tasks); err != nil {
				t.Fatal(err)
			}
			for _, task := range tasks {
				if fault := backendtest.Compare(task); fault != "" {
					t.Errorf("%s\n%s", fault, backendtest.Describe(task))
				}
			}
			if s := b.Stats(); s.GPU != 8 || s.Halved == 0 || s.Failure != nil {
				t.Errorf("%+v; want all done in halves of the batch", s)
			}
		})
	}
}

// TestClose closes a backend while it is at work: a Render is finished, or does nothing.
func TestClose(t *testing.T) {
	fakecuda.Use(t)
	b, err := gpu.Open(gpu.Options{Streams: 2})
	if err != nil {
		t.Fatal(err)
	}
	task := func() *augment.Task {
		im := new(augment.Image)
		im.Reset(40, 30, 3)
		return &augment.Task{Image: im, Resize: &augment.ResizeSpec{Width: 7, Height: 9, NoAntialias: true}}
	}
	var working, wg sync.WaitGroup
	for range 4 {
		working.Add(1)
		wg.Go(func() {
			for n := 0; ; n++ {
				one := task()
				err := b.Render([]*augment.Task{one})
				switch {
				case n == 0 && err != nil, n > 0 && err != nil && !errors.Is(err, gpu.ErrClosed):
					t.Errorf("Render %d: %v", n, err)
				case err == nil && backendtest.Compare(one) != "":
					t.Error(backendtest.Compare(one))
				}
				if n == 0 {
					working.Done()
				}
				if err != nil {
					return
				}
			}
		})
	}
	working.Wait()
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	if err := b.Render([]*augment.Task{task()}); !errors.Is(err, gpu.ErrClosed) {
		t.Errorf("Render after Close: %v", err)
	}
	if s := b.Stats(); s.GPU < 4 || s.CPU != 0 {
		t.Errorf("%+v", s)
	}
}

// TestFailure is a kernel, a launch or a copy that fails in the middle of the work: the CPU
// continues, with nothing lost and one sentence about it.
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
			if len(notes) != 1 || !strings.HasSuffix(notes[0], ": continuing on the CPU") || strings.Contains(notes[0], "\n") {
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
		return &augment.Task{Image: im, Resize: &augment.ResizeSpec{Width: 7, Height: 9, NoAntialias: true}}
	}
	for i := range 3 {
		err := b.Render([]*augment.Task{task()})
		if !errors.Is(err, gpu.ErrFailed) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("Render %d: %v; want one that wraps %q", i, err, gpu.ErrFailed)
		}
	}
}
