//go:build !cuda

package gpu_test

import (
	"errors"
	"testing"

	"github.com/tfrec/tfrec/gpu"
)

func TestOpenWithoutCUDA(t *testing.T) {
	b, err := gpu.Open(gpu.Options{})
	if b != nil || !errors.Is(err, gpu.ErrNotBuilt) {
		t.Errorf("Open: %v, %v; want ErrNotBuilt", b, err)
	}
	if _, err := gpu.Survey(); !errors.Is(err, gpu.ErrNotBuilt) {
		t.Errorf("Survey: %v; want ErrNotBuilt", err)
	}
}
