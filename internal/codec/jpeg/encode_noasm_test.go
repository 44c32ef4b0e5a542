//go:build (!amd64 && !arm64) || noasm

package jpeg

// withoutAssembly runs f as everything runs here.
func withoutAssembly(f func()) { f() }
