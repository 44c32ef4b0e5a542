// Package memory reports how much memory is available.
package memory

import (
	"math"
	"runtime/debug"
	"sync"
)

// unknown is taken for a machine's memory where it cannot be asked for.
const unknown = 2 << 30

// machine is ofMachine, asked once.
var machine = sync.OnceValue(ofMachine)

// Limit returns how many bytes this process may use: what the machine or its control group has, and
// GOMEMLIMIT where that is less. Where the machine cannot be asked it is 2 GiB.
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
