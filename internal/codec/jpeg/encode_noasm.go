//go:build !amd64 || noasm

package jpeg

// encodesFaster reports whether the encoder of this package is faster than libjpeg-turbo.
func encodesFaster() bool { return false }

// blocks codes blocks, which come in whole MCUs of the kinds given, after the bits that are
// pending, and returns how many whole bytes it wrote, before stuffing. dst has room for
// maxBlockBytes a block and storeSlack.
func (e *entropyState) blocks(dst []byte, coefs []block, nonzero []uint64, mcu []codedBlock) int {
	return e.blocksPlain(dst, coefs, nonzero, mcu)
}
