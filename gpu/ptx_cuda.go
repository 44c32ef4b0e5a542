//go:build cuda

package gpu

import _ "embed"

// ptx is kernels/kernels.cu, as `make ptx` compiles it.
//
//go:embed kernels/kernels.ptx
var ptx []byte
