//go:build !noasm

package inflate

import "testing"

// eachDecoder runs a test with the assembly and with its reference implementation.
func eachDecoder(t *testing.T, run func(t *testing.T)) {
	run(t)
	defer func(was bool) { hasBMI2 = was }(hasBMI2)
	hasBMI2 = false
	run(t)
}
