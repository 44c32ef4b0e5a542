package gpu_test

import (
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
	"github.com/tfrec/tfrec/internal/dev/backendtest"
)

// open opens the first GPU until the test ends. Without one the test is
// skipped, or fails where -require-gpu is given.
func open(t testing.TB, o gpu.Options) *gpu.Backend {
	t.Helper()
	b, err := gpu.Open(o)
	if err != nil {
		gputest.Missing(t, err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestConforms(t *testing.T) {
	b := open(t, gpu.Options{Required: true})
	backendtest.Run(t, b, 3000)
	s := b.Stats()
	if s.GPU < 10*s.CPU {
		t.Errorf("%d images on the GPU and %d on the CPU (%v): want it to take most", s.GPU, s.CPU, s.Lacking)
	}
}

// TestConformsWithCoded has the CPU decode: the bytes are its own.
func TestConformsWithCoded(t *testing.T) {
	b := open(t, gpu.Options{Required: true})
	backendtest.RunCoded(t, b, 600)
	s := b.Stats()
	if s.GPU < 10*s.CPU || len(s.Decoded) > 0 || b.Decoder() != "" {
		t.Errorf("%+v with decoder %q", s, b.Decoder())
	}
}

// TestColors is all 16.8 million of them.
func TestColors(t *testing.T) {
	b := open(t, gpu.Options{Required: true})
	backendtest.Colors(t, b)
	if s := b.Stats(); s.CPU > 0 {
		t.Errorf("%+v", s)
	}
}

// TestLargeImages renders a few as large as photographs, and small ones
func TestLargeImages(t *testing.T) {
	b := open(t, gpu.Options{Required: true, Memory: 256 << 20})
	var tasks []*augment.Task
	for _, size := range [][2]int{{4000, 3000}, {500, 375}, {3, 9000}} {
		im := new(augment.Image)
		im.Reset(size[0], size[1], 3)
		for i := range im.Pix {
			im.Pix[i] = uint8(i ^ i>>9)
		}
		tasks = append(tasks,
			&augment.Task{Image: im, Resize: &augment.ResizeSpec{Square: 224}},
			&augment.Task{Image: im, Draw: augment.Draw{Steps: []augment.Step{augment.Contrast{Factor: 1.7}, augment.ResizeTo{Width: 300, Height: 200, Filter: augment.Lanczos3}}}})
	}
	if err := b.Render(tasks); err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if fault := backendtest.Compare(task); fault != "" {
			t.Errorf("%s\n%s", fault, backendtest.Describe(task))
		}
	}
	if s := b.Stats(); s.CPU > 0 {
		t.Errorf("%+v", s)
	}
}
