//go:build !(cuda && linux && amd64 && cgo)

package nvjpeg

import "github.com/tfrec/tfrec/gpu/internal/cuda"

func openNative(string) (native, error) { return nil, cuda.ErrNotBuilt }
