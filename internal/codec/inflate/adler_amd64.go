//go:build !noasm

package inflate

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd _generate && go run ./adler -out ../adler_amd64.s -stubs ../adler_stubs_amd64.go -pkg inflate"

// hasAVX2 reports whether adlerAVX2 runs here. Tests turn it off.
var hasAVX2 = cpu.X86.HasAVX2

// adler continues an Adler-32, which begins with 1.
func adler(sum uint32, data []byte) uint32 {
	const part = 1 << 16 // blocks of 32 bytes: their sums of sums are below 2^63
	if !hasAVX2 {
		return adlerPlain(sum, data)
	}
	for len(data) >= 64 {
		blocks := min(len(data)/32, part)
		a, b := adlerAVX2(&data[0], blocks)
		first := uint64(sum & 0xFFFF)
		sum = uint32((uint64(sum>>16)+first*uint64(blocks)*32+b)%adlerMod<<16 | (first+a)%adlerMod)
		data = data[32*blocks:]
	}
	return adlerPlain(sum, data)
}
