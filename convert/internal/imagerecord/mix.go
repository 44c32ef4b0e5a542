package imagerecord

import (
	"context"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/placed"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/codec/decodeplan"
	"github.com/tfrec/tfrec/internal/jsontext"
)

// readPartners reads the images that are mixed into a sample, and appends their identities. An error
// ends the run.
func (s *Maker) readPartners(ctx context.Context, m *Work, p *plan.Piece) (bad *Fault, err error) {
	for _, pm := range m.partners {
		pic := &s.Images[pm.Sample.Image]
		if err := p.Reserve(pic.Size); err != nil {
			return nil, err
		}
		data, hash, input, err := s.Read(ctx, pm, pic)
		if err != nil {
			if s.EndsRun(err) {
				return nil, err
			}
			hash = sample.Unread
			if bad == nil {
				bad = PartnerFault("read", pic, origin.WithoutPath(err))
			}
		}
		pm.data = data
		p.BytesIn += int64(len(data))
		p.Identity = s.Identity(p.Identity, pm.Sample, hash)
		p.AddInputs(input, pm.MaskInput)
	}
	return bad, nil
}

// drawMixture draws the steps for a sample and its partners, and returns the memory that the partners
// take.
func (s *Maker) drawMixture(m *Work, info augment.Info) (need int64, bad *Fault) {
	m.channels = s.Options.Encode.Channels
	gray := info.Channels == 1
	partners := make([]augment.Partner, len(m.partners))
	for k, pm := range m.partners {
		pic := &s.Images[pm.Sample.Image]
		var err error
		if pm.info, err = s.codec.Stat(pm.data); err != nil {
			return 0, PartnerFault("decode", pic, err)
		}
		gray = gray && pm.info.Channels == 1
		place := placed.Of(pm.info)
		partners[k] = augment.Partner{
			Key: jsontext.Readable(pic.Path), Width: place.Width, Height: place.Height, Boxes: place.ShownBoxes(pic.Annotated()),
		}
		need += pm.info.Memory() + 6*int64(place.Width)*int64(place.Height) + s.Placer().Memory(pic, pm.info, 0)
	}
	if m.channels == 0 { // as the images have, which must be as many
		if m.channels = 3; gray {
			m.channels = 1
		}
	}
	pic, p := &s.Images[m.Sample.Image], placed.Of(info)
	m.mixture = s.Options.Augment.Policy.DrawMixed(s.Options.Seed, pic.Path, int(m.Sample.Copy), p.Width, p.Height, p.ShownBoxes(pic.Annotated()), partners)
	if mixture := sample.MixtureOf(m.mixture); mixture != nil {
		need += 6 * int64(mixture.Size) * int64(mixture.Size)
		w, h := m.mixture.Size(p.Width, p.Height)
		need += max(0, s.resultMemory(w, h)-s.resultMemory(p.Width, p.Height))
	}
	return need, nil
}

// decodePartners decodes the partners of a sample and applies their own steps.
func (s *Maker) decodePartners(m *Work) *Fault {
	mixture := sample.MixtureOf(m.mixture)
	for k, pm := range m.partners {
		one := &mixture.Partners[k]
		spec := decodeplan.Spec{Codec: s.codec, Channels: m.channels, ExactPixels: s.Options.ExactPixels, Spare: &s.spare}
		plan := spec.For(pm.info, one.Draw)
		pm.resize.Codec = s.codec
		t := &pm.Task
		t.Image, t.Planes, t.Width, t.Height, t.Draw, t.Err = nil, nil, 0, 0, one.Draw, nil
		t.Form, t.Resize, t.Scratch = augment.Pixels, nil, &pm.resize
		var err error
		if plan.Planes {
			_, err = s.codec.DecodePlanes(&pm.planes, pm.data, plan.Options)
			t.Planes = &pm.planes
		} else {
			_, err = s.codec.Decode(&pm.decoded, pm.data, plan.Options)
			t.Image = &pm.decoded
		}
		pic := &s.Images[pm.Sample.Image]
		if err != nil {
			return PartnerFault("decode", pic, err)
		}
		if one.Image = t.Image; len(one.Draw.Steps) == 0 {
			continue
		}
		_ = augment.CPU{}.Render([]*augment.Task{t}) // the error is the task's
		if t.Err != nil {
			return PartnerFault("transform", pic, t.Err)
		}
		one.Image = &t.Pixels
	}
	return nil
}
