//go:build !noasm

package jpeg

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd _generate && go run ./huffman -out ../decode_amd64.s -stubs ../decode_stubs_amd64.go -pkg jpeg"

// hasBMI2 reports whether the processor shifts by any register.
var hasBMI2 = cpu.X86.HasBMI2

// hasPDEP reports whether the processor deposits bits in a few cycles: AMD's before Zen 3, families
// 17h and 18h, take up to hundreds.
var hasPDEP = hasBMI2 && cpu.X86.HasPOPCNT && cpuid.CPU.Family != 0x17 && cpuid.CPU.Family != 0x18

// assembled reports whether all assembly of the decoder runs here, which makes it the fastest.
func assembled() bool { return hasVectors && hasBMI2 }

// The assembly knows where these are.
var (
	_ = [1]struct{}{}[unsafe.Offsetof(bitReader{}.buf)-0]
	_ = [1]struct{}{}[unsafe.Offsetof(bitReader{}.pos)-24]
	_ = [1]struct{}{}[unsafe.Offsetof(bitReader{}.acc)-32]
	_ = [1]struct{}{}[unsafe.Offsetof(bitReader{}.n)-40]
	_ = [1]struct{}{}[unsafe.Offsetof(bitReader{}.end)-48]
	_ = [1]struct{}{}[unsafe.Offsetof(blockCode{}.dc)-0]
	_ = [1]struct{}{}[unsafe.Offsetof(blockCode{}.ac)-8]
	_ = [1]struct{}{}[unsafe.Offsetof(blockCode{}.component)-16]
	_ = [1]struct{}{}[unsafe.Offsetof(blockCode{}.at)-24]
	_ = [1]struct{}{}[unsafe.Offsetof(blockCode{}.step)-32]
	_ = [1]struct{}{}[unsafe.Sizeof(blockCode{})-40]
	_ = [1]struct{}{}[unsafe.Offsetof(band{}.table)-0]
	_ = [1]struct{}{}[unsafe.Offsetof(band{}.mask)-8]
	_ = [1]struct{}{}[unsafe.Offsetof(band{}.ended)-16]
	_ = [1]struct{}{}[unsafe.Offsetof(band{}.al)-24]
	_ = [1]struct{}{}[unsafe.Offsetof(huffTable{}.pairs)-0]
	_ = [1]struct{}{}[unsafe.Offsetof(huffTable{}.one)-8192]
	_ = [1]struct{}{}[unsafe.Offsetof(huffTable{}.maxCode)-12288]
	_ = [1]struct{}{}[unsafe.Offsetof(huffTable{}.offset)-12356]
	_ = [1]struct{}{}[unsafe.Offsetof(huffTable{}.spec)-12424]
)

// decodeBlocks decodes n MCUs of a sequential scan, as decodeBlocksPlain does.
func (r *bitReader) decodeBlocks(coefs []block, codes []blockCode, means *[4]int32, n int) fault {
	if !hasBMI2 || n < 1 {
		return r.decodeBlocksPlain(coefs, codes, means, n)
	}
	for i := range codes {
		_ = coefs[codes[i].at+(n-1)*codes[i].step]
		codes[i].component &= 3
	}
	return fault(decodeBlocksBMI2((*uint64)(unsafe.Pointer(r)), &coefs[0], (*uint64)(unsafe.Pointer(&codes[0])), len(codes), &means[0], n, &naturalOrder[0]))
}

// refineBand reads neighbouring blocks of a scan that refines a band, as refineBandPlain does.
func (r *bitReader) refineBand(c *band, coefs []block, known []uint64) fault {
	if !hasVectors || !hasPDEP || len(known) == 0 {
		return r.refineBandPlain(c, coefs, known)
	}
	var first *block
	if len(coefs) > 0 {
		first = &coefs[:len(known)][0]
	}
	return fault(refineBandBMI2((*uint64)(unsafe.Pointer(r)), (*uint64)(unsafe.Pointer(c)), first, &known[0], len(known)))
}
