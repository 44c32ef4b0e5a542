//go:build !noasm

package jpeg

import "golang.org/x/sys/cpu"

// hasVectors says that the assembly of transforms and colours runs here. Tests turn it off.
var hasVectors = cpu.X86.HasAVX2

// hasAVX512 says that the processor also permutes the bytes of 64, and the system keeps them. It is
// of no matter unless hasVectors. Tests turn it off.
var hasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI
