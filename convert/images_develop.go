package convert

import "github.com/tfrec/tfrec/augment"

// takesPlanes reports whether an image may be worked on in planes, as its header and the
// options say.
func (s *imageSource) takesPlanes(info augment.Info) bool {
	return !s.o.ExactPixels && s.o.Channels != 1 && s.codec.TakesPlanes(info)
}

// resizesPlanes reports whether the options resize in a way that planes can follow.
func (s *imageSource) resizesPlanes() bool { return s.o.resizes() && s.o.Resize.TakesPlanes() }

// decode decodes an image as the task wants it that brings it to what is stored,
// and sets the task: in planes up to where it has the size that it keeps, if they lead there. A
// image that stays as it is has no task. One that the backend decodes is only searched for
// damage here.
func (s *imageSource) decode(m *sampleWork, data []byte, draw augment.Draw, info augment.Info) error {
	w, h := info.Oriented()
	drawn, resize := len(draw.Steps) > 0, s.o.resizes()
	planar := s.takesPlanes(info) && (draw.TakesPlanes() || !drawn && s.resizesPlanes())
	m.resize.Codec = s.codec // JPEG artefacts need one
	t := &m.task
	t.Image, t.Planes, t.JPEGInfo, t.Width, t.Height, t.Draw, t.Err = nil, nil, augment.Info{}, w, h, draw, nil
	t.Form, t.Resize, t.Scratch = augment.Pixels, nil, &m.resize
	if resize {
		t.Resize = &s.o.Resize
	}
	if s.o.Encode == Float32 && s.o.Backend != nil { // the CPU does better with bytes
		t.Form, t.Normalize = augment.Floats, s.o.Normalize
	}
	if planar && !drawn && s.o.Encode == JPEG { // without a turn through RGB
		t.Form, t.Subsampling = augment.YCbCr, s.o.Subsampling
	}
	var err error
	switch {
	case s.decodes && info.Usual:
		if err := t.ReadJPEG(s.codec, data); err != nil {
			return err
		}
		if t.JPEGChannels, t.JPEGPlanes = 0, planar; !planar {
			t.JPEGChannels = s.o.Channels
		}
		m.input, m.waits = len(data), true
		return nil
	case planar && drawn:
		opts := augment.DecodeOptions{Part: draw.Part(w, h)}
		opts.MinWidth, opts.MinHeight = draw.MinDecode(w, h)
		_, err = s.codec.DecodePlanes(&m.planes, data, opts)
		t.Planes = &m.planes
	case planar:
		var opts augment.DecodeOptions
		opts.MinWidth, opts.MinHeight = s.o.Resize.MinDecode(w, h)
		_, err = s.codec.DecodePlanes(&m.planes, data, opts)
		t.Planes = &m.planes
	default:
		opts := augment.DecodeOptions{Channels: s.o.Channels}
		if resize && !drawn && !s.o.ExactPixels {
			opts.MinWidth, opts.MinHeight = s.o.Resize.MinDecode(w, h)
		}
		_, err = s.codec.Decode(&m.decoded, data, opts)
		t.Image = &m.decoded
	}
	m.waits = err == nil && (drawn || resize || t.Form == augment.Floats)
	return err
}
