//go:build !noasm

package jpeg

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd _generate && go run ./entropy -out ../entropy_amd64.s -stubs ../entropy_stubs_amd64.go -pkg jpeg"

// hasBMI reports whether the assembly that codes coefficients runs here. Tests turn it off.
var hasBMI = cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// encodesFaster reports whether the encoder of this package is faster than libjpeg-turbo.
func encodesFaster() bool { return hasVectors && hasBMI }

// blocks codes blocks, which come in whole MCUs of the kinds given, after the bits that are
// pending, and returns how many whole bytes it wrote, before stuffing. dst has room for
// maxBlockBytes a block and storeSlack.
func (e *entropyState) blocks(dst []byte, coefs []block, nonzero []uint64, mcu []codedBlock) int {
	if !hasBMI {
		return e.blocksPlain(dst, coefs, nonzero, mcu)
	}
	n := len(coefs)
	_, _, _ = nonzero[n-1], mcu[0], dst[n*maxBlockBytes+storeSlack-1]
	end := blocksBMI(&e.acc, &dst[0], &coefs[0], &nonzero[0], (*uint64)(unsafe.Pointer(&mcu[0])), len(mcu), &classes[maxCoefficient], n)
	return int(uintptr(unsafe.Pointer(end)) - uintptr(unsafe.Pointer(&dst[0])))
}
