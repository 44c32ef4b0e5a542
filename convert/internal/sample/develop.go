package sample

import (
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/internal/decodeplan"
)

// decoding returns the settings that decide how images are decoded.
func (s *Maker) decoding() decodeplan.Spec {
	spec := decodeplan.Spec{Codec: s.codec, Channels: s.Options.Encode.Channels, ExactPixels: s.Options.ExactPixels, Spare: s}
	if s.Options.Resizes() {
		spec.Resize = &s.Options.Resize
	}
	return spec
}

// decode decodes an image as needed by the task that turns it into what is stored, and sets the
// task: in planes until it has its final size, where the steps allow that. An image that stays
// unchanged has no task. One that the backend decodes is only checked for damage here.
func (s *Maker) decode(m *Work, data []byte, draw augment.Draw, info augment.Info) error {
	w, h := info.Oriented()
	drawn := len(draw.Steps) > 0
	spec := s.decoding()
	if m.channels > 0 {
		spec.Channels = m.channels
	}
	plan := spec.For(info, draw)
	m.resize.Codec = s.codec // JPEG artefacts need one
	t := &m.Task
	t.Image, t.Planes, t.JPEGInfo, t.Width, t.Height, t.Draw, t.Err = nil, nil, augment.Info{}, w, h, draw, nil
	t.Form, t.Resize, t.Scratch = augment.Pixels, spec.Resize, &m.resize
	if s.Options.Encode.Format == options.Float32 && s.Options.Backend != nil { // the CPU does better with bytes
		t.Form, t.Normalize = augment.Floats, s.Options.Encode.Normalize
	}
	if plan.Planes && !drawn && s.Options.Encode.Format == options.JPEG { // without conversion to RGB
		t.Form, t.Subsampling = augment.YCbCr, s.Options.Encode.Subsampling
	}
	var err error
	switch {
	case s.Decodes && info.Usual:
		if err := t.ReadJPEG(s.codec, data); err != nil {
			return err
		}
		if t.JPEGChannels, t.JPEGPlanes = 0, plan.Planes; !plan.Planes {
			t.JPEGChannels = spec.Channels
		}
		m.input, m.waits = len(data), true
		return nil
	case plan.Planes:
		s.placeResult(m, spec.Channels)
		_, err = s.codec.DecodePlanes(&m.planes, data, plan.Options)
		t.Planes = &m.planes
	default:
		s.placeResult(m, spec.Channels)
		_, err = s.codec.Decode(&m.decoded, data, plan.Options)
		t.Image = &m.decoded
	}
	m.waits = err == nil && (drawn || spec.Resize != nil || t.Form == augment.Floats)
	return err
}
