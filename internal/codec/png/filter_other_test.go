//go:build !amd64 || noasm

package png

import "testing"

// eachFilter runs a test with the one implementation that there is.
func eachFilter(t *testing.T, run func(t *testing.T)) { run(t) }
