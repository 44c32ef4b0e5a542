package imagerecord

import (
	"encoding/json"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/placed"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/codec/decodeplan"
)

// develop decodes an image and prepares the steps that the options require. An image that is kept is
// finished.
func (s *Maker) develop(m *Work, data []byte, info augment.Info) *Fault {
	var err error
	m.info = info
	switch keep := s.Options.Encode.Format == options.Keep; {
	case keep && info.Keepable:
		if !s.Options.Encode.NoCheck {
			if info, err = s.codec.Check(data); err != nil {
				return &Fault{Stage: "decode", Err: err}
			}
		}
		m.out = stored{data: data, format: string(info.Format), width: info.Width, height: info.Height, channels: info.Channels, deep: info.Deep, orientation: info.Orientation}
		return nil
	case keep && info.Deep:
		return s.keepDeep(m, data)
	}
	draw := m.mixture
	if len(m.partners) == 0 {
		draw = s.Draw(m, info)
	}
	if s.Options.Augment.Policy != nil {
		if m.out.ops, err = json.Marshal(draw); err != nil {
			return &Fault{Stage: "transform", Err: err}
		}
	}
	if fault := s.decodePartners(m); fault != nil {
		return fault
	}
	if err := s.decode(m, data, draw, info); err != nil {
		return &Fault{Stage: "decode", Err: err}
	}
	return nil
}

// keepDeep stores an image of more than 8 bits a sample as a PNG of 16.
func (s *Maker) keepDeep(m *Work, data []byte) *Fault {
	var err error
	if m.encoded, _, err = s.codec.AppendDeepPNG(m.encoded[:0], data); err != nil {
		return &Fault{Stage: "decode", Err: err}
	}
	if err := checkStored(m.encoded, string(options.PNG)); err != nil {
		return &Fault{Stage: "encode", Err: err}
	}
	w, h := m.info.Oriented()
	m.out = stored{data: m.encoded, format: string(options.PNG), width: w, height: h, channels: m.info.Channels, deep: true, orientation: 1}
	return nil
}

// decoding returns the settings that decide how images are decoded.
func (s *Maker) decoding() decodeplan.Spec {
	spec := decodeplan.Spec{Codec: s.codec, Channels: s.Options.Encode.Channels, ExactPixels: s.Options.ExactPixels, Spare: &s.spare}
	if s.Options.Resizes() {
		spec.Resize = &s.Options.Resize
	}
	return spec
}

// decode decodes an image as needed by the task that makes the stored image, and sets the task: in
// planes until it has its final size, where the steps allow that. An image that stays unchanged has
// no task. One that the backend decodes is only checked for damage here.
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

// Draw draws the steps for a sample, given the info of its image: none for an original.
func (s *Maker) Draw(m *Work, info augment.Info) augment.Draw {
	if m.Sample.Copy == 0 {
		return augment.Draw{}
	}
	pic, p := &s.Images[m.Sample.Image], placed.Of(info)
	boxes := p.ShownBoxes(pic.Annotated())
	if m.beside.Record != nil {
		boxes = m.Objects.RecordBoxes(p, m.beside.Record) // follow reports an error
	}
	return s.Options.Augment.Policy.DrawBoxes(s.Options.Seed, pic.Path, int(m.Sample.Copy), p.Width, p.Height, boxes)
}

// placeResult lets a large array of pixels be made where it is stored, if nothing else is in its
// piece. The image is decoded to this many channels.
func (s *Maker) placeResult(m *Work, channels int) {
	t := &m.Task
	if !m.alone || s.Options.Encode.Format != options.Raw || t.Form != augment.Pixels {
		return
	}
	array, w, h := &m.decoded.Pix, t.Width, t.Height
	if len(t.Draw.Steps) > 0 || t.Resize != nil {
		array = &t.Pixels.Pix
		w, h = m.resultSize()
	}
	if n := int64(w) * int64(h) * int64(channels); n >= plan.LargeArray && n <= origin.MaxStored {
		m.large.use(array, n)
	}
}
