//go:build !cuda

package gpu

// ptx is nothing: there is no driver to give it to.
var ptx []byte
