// Package gputest is for tests that need a GPU, or the fake one.
package gputest

import (
	_ "embed"
	"flag"
	"testing"

	"github.com/tfrec/tfrec/gpu/internal/cuda"
)

// Probe is PTX of a few kernels that only tests run.
//
//go:embed probe.ptx
var Probe []byte

var required = flag.Bool("require-gpu", false, "fail where a test would be skipped because there is no GPU")

// Device opens the first GPU until the test ends. Without one the test is skipped, or
// fails where the flag -require-gpu is given.
func Device(t testing.TB) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(0)
	if err != nil {
		Missing(t, err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Missing ends a test because a requirement for a GPU is not met: it skips the test, or fails it
// with the flag -require-gpu.
func Missing(t testing.TB, why error) {
	t.Helper()
	if *required {
		t.Fatal(why)
	}
	t.Skip(why)
}
