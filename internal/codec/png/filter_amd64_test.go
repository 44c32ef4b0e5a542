//go:build !noasm

package png

import "testing"

// eachFilter runs a test with the assembly and with its reference implementation.
func eachFilter(t *testing.T, run func(t *testing.T)) {
	run(t)
	defer func(was bool) { hasAVX2 = was }(hasAVX2)
	hasAVX2 = false
	run(t)
}
