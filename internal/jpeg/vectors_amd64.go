//go:build !noasm

package jpeg

import "golang.org/x/sys/cpu"

// hasVectors says that the assembly of transforms and colours runs here. Tests turn it off.
var hasVectors = cpu.X86.HasAVX2
