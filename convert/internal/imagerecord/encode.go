package imagerecord

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
)

// store encodes the resulting image, unless the original is kept.
func (s *Maker) store(m *Work) *Fault {
	if m.out.data != nil {
		return nil
	}
	if m.waits && m.Task.Err != nil {
		return &Fault{Stage: "transform", Err: m.Task.Err}
	}
	out, err := s.encode(m)
	if err != nil {
		return &Fault{Stage: "encode", Err: err}
	}
	out.ops = m.out.ops
	m.out = out
	return nil
}

// encode encodes an image according to the options.
func (s *Maker) encode(m *Work) (stored, error) {
	im, t := &m.decoded, &m.Task
	out := stored{width: im.Width, height: im.Height, channels: im.Channels}
	if m.waits {
		im = &t.Pixels
		out = stored{width: t.ResultWidth, height: t.ResultHeight, channels: t.Channels}
	}
	size := int64(out.width) * int64(out.height) * int64(out.channels)
	if s.Options.Encode.Format == options.Float32 {
		size *= 4
	}
	if (s.Options.Encode.Format == options.Raw || s.Options.Encode.Format == options.Float32) && size > origin.MaxStored {
		return stored{}, fmt.Errorf("%d bytes as %s: readers take records up to %d; resize it, or store it as jpeg or png", size, s.Options.Encode.Format, origin.MaxInput)
	}
	var err error
	if s.Options.Encode.Format == options.Keep {
		out.orientation = 1 // decoding applied the orientation
	}
	switch s.Options.Encode.Format {
	case options.JPEG:
		out.format = string(options.JPEG)
		if m.waits && t.Form == augment.YCbCr {
			m.encoded, err = s.codec.AppendJPEGPlanes(m.encoded[:0], &t.YCbCr, s.Options.Encode.Quality)
		} else {
			m.encoded, err = s.codec.AppendJPEG(m.encoded[:0], im, s.Options.Encode.Quality, s.Options.Encode.Subsampling)
		}
	case options.Raw:
		out.format = string(options.Raw)
		if im.Stride == im.Width*im.Channels { // without padding
			out.data = im.Pix[:size]
			return out, nil
		}
		m.encoded = augment.AppendRaw(m.encoded[:0], im)
	case options.Float32:
		out.format = string(options.Float32)
		if m.alone && size >= plan.LargeArray {
			m.large.use(&m.encoded, size)
		}
		if t.Form == augment.Floats {
			m.encoded = appendFloats(m.encoded[:0], t.Floats)
		} else {
			m.encoded = augment.AppendFloat32(m.encoded[:0], im, s.Options.Encode.Normalize)
		}
	default:
		out.format = string(options.PNG)
		m.encoded, err = augment.AppendPNG(m.encoded[:0], im)
	}
	if err == nil {
		err = checkStored(m.encoded, out.format)
	}
	out.data = m.encoded
	return out, err
}

// checkStored returns an error for an encoded image that is too large for a record.
func checkStored(data []byte, format string) error {
	if len(data) > origin.MaxStored {
		return fmt.Errorf("%d bytes as %s: readers take records up to %d", len(data), format, origin.MaxInput)
	}
	return nil
}

// appendFloats appends numbers in the format of records.
func appendFloats(dst []byte, numbers []float32) []byte {
	for _, v := range numbers {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}
