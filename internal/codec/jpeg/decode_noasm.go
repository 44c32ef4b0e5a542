//go:build !amd64 || noasm

package jpeg

// assembled reports whether all assembly of the decoder runs here, which makes it the fastest.
func assembled() bool { return false }

// decodeBlocks decodes n MCUs of a sequential scan, as decodeBlocksPlain does.
func (r *bitReader) decodeBlocks(coefs []block, codes []blockCode, means *[4]int32, n int) fault {
	return r.decodeBlocksPlain(coefs, codes, means, n)
}

// refineBand reads neighbouring blocks of a scan that refines a band, as refineBandPlain does.
func (r *bitReader) refineBand(c *band, coefs []block, known []uint64) fault {
	return r.refineBandPlain(c, coefs, known)
}
