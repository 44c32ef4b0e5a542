package convert

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tfrec/tfrec/augment"
)

// encode encodes an image according to the options.
func (s *imageSource) encode(m *sampleWork) (stored, error) {
	im, t := &m.decoded, &m.task
	out := stored{width: im.Width, height: im.Height, channels: im.Channels}
	if m.waits {
		im = &t.Pixels
		out = stored{width: t.ResultWidth, height: t.ResultHeight, channels: t.Channels}
	}
	size := int64(out.width) * int64(out.height) * int64(out.channels)
	if s.o.Encode == Float32 {
		size *= 4
	}
	if (s.o.Encode == Raw || s.o.Encode == Float32) && size > maxStored {
		return stored{}, fmt.Errorf("%d bytes as %s: readers take records up to %d; resize it, or store it as jpeg or png", size, s.o.Encode, maxInput)
	}
	var err error
	if s.o.Encode == Keep {
		out.orientation = 1 // decoding applied the orientation
	}
	switch s.o.Encode {
	case JPEG:
		out.format = string(JPEG)
		if m.waits && t.Form == augment.YCbCr {
			m.encoded, err = s.codec.AppendJPEGPlanes(m.encoded[:0], &t.YCbCr, s.o.Quality)
		} else {
			m.encoded, err = s.codec.AppendJPEG(m.encoded[:0], im, s.o.Quality, s.o.Subsampling)
		}
	case Raw:
		out.format = string(Raw)
		if im.Stride == im.Width*im.Channels { // without padding
			out.data = im.Pix[:size]
			return out, nil
		}
		m.encoded = augment.AppendRaw(m.encoded[:0], im)
	case Float32:
		out.format = string(Float32)
		if t.Form == augment.Floats {
			m.encoded = appendFloats(m.encoded[:0], t.Floats)
		} else {
			m.encoded = augment.AppendFloat32(m.encoded[:0], im, s.o.Normalize)
		}
	default:
		out.format = string(PNG)
		m.encoded, err = augment.AppendPNG(m.encoded[:0], im)
	}
	if err == nil && len(m.encoded) > maxStored {
		err = fmt.Errorf("%d bytes as %s: readers take records up to %d", len(m.encoded), out.format, maxInput)
	}
	out.data = m.encoded
	return out, err
}

// appendFloats appends numbers in the format of records.
func appendFloats(dst []byte, numbers []float32) []byte {
	for _, v := range numbers {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}
