//go:build !noasm

package jpeg

// withoutAssembly runs f as on a processor without assembly.
func withoutAssembly(f func()) {
	defer func(was bool) { hasVectors = was }(hasVectors)
	hasVectors = false
	f()
}
