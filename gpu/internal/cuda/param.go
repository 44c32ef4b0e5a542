package cuda

import "math"

// Param is a parameter of a kernel, in the low bytes of eight: cu copies eight bytes
// of each, whatever the kernel takes.
type Param uint64

// Int32 is a parameter of type int.
func Int32(v int32) Param { return Param(uint32(v)) }

// Uint32 is a parameter of type unsigned.
func Uint32(v uint32) Param { return Param(v) }

// Int64 is a parameter of type long long.
func Int64(v int64) Param { return Param(uint64(v)) }

// Uint64 is a parameter of type unsigned long long.
func Uint64(v uint64) Param { return Param(v) }

// Float32 is a parameter of type float.
func Float32(v float32) Param { return Param(math.Float32bits(v)) }

// Dim is the size of a grid in blocks, or of a block in threads. A side of 0 counts
// as 1.
type Dim struct {
	X, Y, Z int
}

// whole gives sides of 0 the length that they count as.
func (d Dim) whole() Dim { return Dim{max(d.X, 1), max(d.Y, 1), max(d.Z, 1)} }
