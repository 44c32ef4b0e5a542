//go:build !cuda

package gpu

// ptx is empty: this build has no driver to load it.
var ptx []byte
