//go:build !noasm

package sha256pair

import "github.com/klauspost/cpuid/v2"

//go:generate sh -c "cd _generate && go run ./block -out ../block_amd64.s -stubs ../block_stubs_amd64.go -pkg sha256pair"

var hasSHA = cpuid.CPU.Supports(cpuid.SHA, cpuid.SSE4, cpuid.SSSE3)

// blocks hashes n blocks, at least one, of p into the words of a, and of q into the words of b.
func blocks(a, b *[8]uint32, p, q *byte, n int) { blocksSHANI(a, b, p, q, n) }
