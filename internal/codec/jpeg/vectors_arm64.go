//go:build !noasm

package jpeg

// hasVectors reports whether the assembly of transforms and colours runs here. Tests turn it off.
var hasVectors = true
