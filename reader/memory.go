package reader

import (
	"math"
	"runtime/debug"
	"sync"
)

// unknownMemory is taken for a machine's memory where it cannot be asked for.
const unknownMemory = 2 << 30

// machineMemory is memoryOf, asked once.
var machineMemory = sync.OnceValue(memoryOf)

// memoryLimit returns how many bytes this process may use: what the machine or
// its control group has, and GOMEMLIMIT where that is less.
func memoryLimit() int64 {
	n := machineMemory()
	if n <= 0 {
		n = unknownMemory
	}
	if soft := debug.SetMemoryLimit(-1); soft > 0 && soft < math.MaxInt64 {
		n = min(n, soft)
	}
	return n
}
