package gpu_test

import (
	"testing"

	"github.com/tfrec/tfrec/augment/backendtest"
	"github.com/tfrec/tfrec/gpu"
	"github.com/tfrec/tfrec/gpu/internal/gputest"
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
		t.Errorf("%d pictures on the GPU and %d on the CPU (%v): want it to take most", s.GPU, s.CPU, s.Lacking)
	}
}
