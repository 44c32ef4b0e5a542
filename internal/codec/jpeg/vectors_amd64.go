//go:build !noasm

package jpeg

import "golang.org/x/sys/cpu"

// hasVectors reports whether the assembly of transforms and colours runs here. Tests turn it off.
var hasVectors = cpu.X86.HasAVX2

// hasAVX512 reports whether the processor also has AVX-512 with byte permutations, and the system
// saves its registers. It has no effect without hasVectors. Tests turn it off.
var hasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI
