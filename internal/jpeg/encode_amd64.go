//go:build !noasm

package jpeg

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd _generate && go run ./entropy -out ../entropy_amd64.s -stubs ../entropy_stubs_amd64.go -pkg jpeg"

// hasBMI says that the assembly that codes coefficients runs here. Tests turn it
// off.
var hasBMI = cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// blocks codes blocks, which come in whole MCUs of the kinds given, behind the
// bits that are pending, and returns how many whole bytes it wrote, before
// stuffing. dst has room for maxBlockBytes a block and storeSlack.
func (e *entropyState) blocks(dst []byte, coefs []block, nonzero []uint64, mcu []codedBlock) int {
	if !hasBMI {
		return e.blocksPlain(dst, coefs, nonzero, mcu)
	}
	n := len(coefs)
	_, _, _ = nonzero[n-1], mcu[0], dst[n*maxBlockBytes+storeSlack-1]
	end := blocksBMI(&e.acc, &dst[0], &coefs[0], &nonzero[0], (*uint64)(unsafe.Pointer(&mcu[0])), len(mcu), &classes[maxCoefficient], n)
	return int(uintptr(unsafe.Pointer(end)) - uintptr(unsafe.Pointer(&dst[0])))
}

// fromRGB converts n pixels of RGB as libjpeg does (jccolor.c): in 16 bits of
// fraction. The rows have room for whole groups of 32.
func fromRGB(luma, cb, cr, rgb []byte, n int) { fromRGBPlain(luma, cb, cr, rgb, n) }

// halve makes a row of chroma of one twice as wide, of two rows, or of both, as
// libjpeg does (jcsample.c): by the mean, rounded down and up in turns, but for
// two rows of the same width, where it is rounded up. The rows of src follow each
// other, and dst has a multiple of 32 samples.
func halve(dst, src []byte, across, down int) { halvePlain(dst, src, across, down) }
