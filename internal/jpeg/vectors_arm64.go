//go:build !noasm

package jpeg

// hasVectors says that the assembly of transforms and colours runs here. Tests turn it off.
var hasVectors = true
