//go:build !noasm

package jpeg

import "golang.org/x/sys/cpu"

// hasAVX2 says that the assembly runs here. Tests turn it off.
var hasAVX2 = cpu.X86.HasAVX2
