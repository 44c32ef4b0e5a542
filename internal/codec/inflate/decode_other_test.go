//go:build !amd64 || noasm

package inflate

import "testing"

// eachDecoder runs a test with the one implementation that there is.
func eachDecoder(t *testing.T, run func(t *testing.T)) { run(t) }
