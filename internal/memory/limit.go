// Package memory reports how much memory is available.
package memory

import (
	"math"
	"runtime/debug"
	"sync"
)

// unknown is the assumed memory of a machine that does not report it.
const unknown = 2 << 30

// machine is ofMachine, called once.
var machine = sync.OnceValue(ofMachine)

// Limit returns the number of bytes that this process may use: the memory of the machine or its
// control group, or GOMEMLIMIT if that is less. If the machine's memory is unknown, it is 2 GiB.
func Limit() int64 {
	n := machine()
	if n <= 0 {
		n = unknown
	}
	if soft := debug.SetMemoryLimit(-1); soft > 0 && soft < math.MaxInt64 {
		n = min(n, soft)
	}
	return n
}
