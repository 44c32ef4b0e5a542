package augment_test

import (
	"testing"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/augment/backendtest"
)

func TestCPUConforms(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, augment.CPU{}, 900)
}
