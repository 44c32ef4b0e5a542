//go:build !(cuda && linux && amd64 && cgo)

package cuda

import (
	"errors"
	"strings"
	"testing"
)

func TestWithoutCUDA(t *testing.T) {
	_, err := Open(0)
	if !errors.Is(err, ErrNotBuilt) || !strings.HasPrefix(err.Error(), "this binary was built without CUDA") {
		t.Errorf("Open: %v", err)
	}
	if _, err := Survey(); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("Survey: %v", err)
	}
}
