//go:build !amd64 || noasm

package jpeg

// convertVideoRow converts a row of full planes in the range of video.
func convertVideoRow(dst, luma, cb, cr []byte) { convertVideoRowPlain(dst, luma, cb, cr) }
