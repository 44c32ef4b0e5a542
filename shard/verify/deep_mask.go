package verify

import (
	"encoding/binary"
	"errors"

	"github.com/tfrec/tfrec/internal/set/recordscan"
)

// maskHeader is the header of a PNG.
type maskHeader struct {
	width, height int64
	gray, palette bool
}

var (
	errMaskFormat   = errors.New("it is not a PNG")
	errMaskChannels = errors.New("it has several channels: want a grayscale PNG, or for classes of pixels one with a palette")
)

// parseMaskHeader reads the first chunk of a PNG (PNG specification, 11.2.1).
func parseMaskHeader(data []byte) (h maskHeader, err error) {
	const name, end = 12, 26
	if len(data) < end || recordscan.ImageFormat(data) != "png" || string(data[name:name+4]) != "IHDR" {
		return h, errMaskFormat
	}
	h.width = int64(binary.BigEndian.Uint32(data[16:]))
	h.height = int64(binary.BigEndian.Uint32(data[20:]))
	color := data[25]
	h.gray, h.palette = color == 0, color == 3
	return h, nil
}
