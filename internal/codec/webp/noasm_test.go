//go:build !amd64 || noasm

package webp

// withoutAssembly runs f as everything runs here.
func withoutAssembly(f func()) { f() }
