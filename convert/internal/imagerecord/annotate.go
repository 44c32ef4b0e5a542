package imagerecord

import (
	"slices"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/placed"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/objects"
)

// annotator places the annotations of the images of a set for their records.
type annotator struct {
	*sample.Set
	codec *augment.Codec
}

// Placer returns the placer for the annotations of the set.
func (s *annotator) Placer() *placed.Placer {
	return &placed.Placer{
		Options: s.Options, Annotations: s.Annotations, Keys: s.ObjectKeys, Colors: s.Colors, Masks: s.Masks != nil, Codec: s.codec,
	}
}

// Mapping returns the mapping for an image that was just prepared.
func (s *annotator) Mapping(m *Work, info augment.Info) *placed.Mapping {
	if m.out.data != nil && info.Keepable {
		return placed.Kept(info)
	}
	var resize *augment.ResizeSpec
	if s.Options.Resizes() {
		resize = &s.Options.Resize
	}
	return placed.Drawn(info, m.Task.Draw, resize)
}

// annotate makes what records have of annotations, for an image that was just prepared. A fault is
// one of the image; annotations that cannot be used go into the piece.
func (s *annotator) annotate(m *Work, p *plan.Piece, info augment.Info) *Fault {
	if m.beside.Record != nil {
		return s.follow(m, p, info)
	}
	pic := &s.Images[m.Sample.Image]
	if pic.Mask() == nil && s.Annotations == nil {
		return nil
	}
	place := s.Mapping(m, info)
	place.Draw = place.Draw.Of(0, place.Width, place.Height)
	s.placeOwnObjects(m, p, place)
	if pic.Mask() != nil {
		if err := s.PlaceMask(m, place, pic.Mask()); err != nil {
			return &Fault{Stage: "decode", Err: err}
		}
	}
	s.placeMixedObjects(m, place)
	if s.Options.Annotations.DropEmpty && m.Objects.Len() == 0 {
		m.filtered, m.waits = true, false
	}
	return nil
}

// placeOwnObjects makes the objects of the sample's own image. The annotations of it that cannot be
// used go into the piece.
func (s *annotator) placeOwnObjects(m *Work, p *plan.Piece, place *placed.Mapping) {
	pic := &s.Images[m.Sample.Image]
	image := pic.Annotated()
	if image == nil {
		return
	}
	s.Placer().Place(&m.Objects, place, image)
	if !s.ReportsFaults(m.Sample) {
		return
	}
	if len(m.Objects.Faults) > 0 {
		p.Identity = sample.IdentifyNames(p.Identity, image)
	}
	for _, f := range image.Faults {
		p.Bad = append(p.Bad, *sample.Listed(annotations.BadSample(pic.Path, f)))
	}
	for _, f := range m.Objects.Faults {
		p.Bad = append(p.Bad, *annotations.BadSample(pic.Path, f))
	}
	p.Dropped += annotation.Unusable(image.Faults) + annotation.Unusable(m.Objects.Faults)
}

// follow moves the objects of a record with its pixels, unless its image is kept. It returns a fault if
// the record cannot be used.
func (s *annotator) follow(m *Work, p *plan.Piece, info augment.Info) *Fault {
	if m.out.data != nil {
		return nil
	}
	read, err := s.Placer().Follow(&m.Objects, s.Mapping(m, info), m.beside.Record)
	if err != nil {
		return &Fault{Stage: plan.StageAnnotation, Err: err}
	}
	if s.ReportsFaults(m.Sample) {
		pic := &s.Images[m.Sample.Image]
		for _, fault := range slices.Concat(read, m.Objects.Faults) {
			fault.Source = s.Origin.Source(pic)
			p.Bad = append(p.Bad, *annotations.BadSample(pic.Path, fault))
		}
		p.Dropped += annotation.Unusable(m.Objects.Faults)
	}
	return nil
}

// PlaceMask makes the mask of classes of the image as it is stored.
func (s *annotator) PlaceMask(m *Work, own *placed.Mapping, mask *origin.Image) error {
	placer, p := s.Placer(), *own
	w, h, err := placer.DecodeMask(&m.Objects, &p, mask.Path, m.MaskFile)
	if err != nil {
		return err
	}
	if len(m.partners) > 0 {
		if p.Draw, err = s.mixMasks(m); err != nil {
			return err
		}
	}
	return placer.StoreMask(&m.Objects, &p, w, h)
}

// carriedMasks returns how many masks of a sample's record may have to follow its pixels.
func (s *annotator) carriedMasks(m *Work) (n int64) {
	e := &m.Record.row
	if m.beside.Record == nil || !s.Carried.MovesObjects(s.Options) || e.Parse(m.beside.Record) != nil {
		return 0
	}
	for _, key := range []string{objects.KeyMask, objects.KeySegmentation} {
		value, _ := e.Get(key)
		n += int64(value.Len())
	}
	return n
}

// placeMixedObjects adds the objects of the partners of a sample, placed by the mapping of its own.
// Those that cannot be used are in the ledger for their own image.
func (s *annotator) placeMixedObjects(m *Work, own *placed.Mapping) {
	faults := len(m.Objects.Faults)
	for k, pm := range m.partners {
		if image := s.Images[pm.Sample.Image].Annotated(); image != nil {
			place := own.Partner(pm.info, m.Task.Draw.Of(k+1, own.Width, own.Height))
			s.Placer().Place(&m.Objects, place, image)
		}
	}
	m.Objects.Dropped += annotation.Unusable(m.Objects.Faults[faults:])
	m.Objects.Faults = m.Objects.Faults[:faults]
}

// mixMasks returns the draw of a sample for its mask of classes, with the masks of its partners.
func (s *annotator) mixMasks(m *Work) (augment.Draw, error) {
	draw := m.Task.Draw.Mask(s.Options.Annotations.FillClass())
	partners, placer := sample.MixtureOf(m.Task.Draw).Partners, s.Placer()
	for k, pm := range m.partners {
		p := placed.Of(pm.info)
		p.Draw = partners[k].Draw
		w, h, err := placer.DecodeMask(&pm.Objects, p, s.Images[pm.Sample.Image].Mask().Path, pm.MaskFile)
		if err != nil {
			return draw, err
		}
		if sample.MixtureOf(draw).Partners[k].Image, err = placer.Move(&pm.Objects, p, w, h); err != nil {
			return draw, err
		}
	}
	return draw, nil
}
