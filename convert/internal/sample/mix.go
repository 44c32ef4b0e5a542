package sample

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/listing"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/decodeplan"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
)

// CheckMix returns an error if what is listed cannot be mixed.
func CheckMix(a *options.AugmentSpec, l *listing.Listing) error {
	if !a.Mixes() {
		return nil
	}
	if l.Carried.HasObjects() {
		return plan.OptionErrorf(optname.AugmentSpecPolicy, "%s mixes images, and the objects and masks of TFRecords cannot be mixed: drop these features first (%s)", a.Policy, optname.ReshapeDropFeatures)
	}
	if err := l.Carried.CheckMix(a.Policy.String()); err != nil {
		return err
	}
	draw := a.Policy.DrawMixed(0, "", 1, 1, 1, nil, make([]augment.Partner, 1))
	if s := MixtureOf(draw); l.Masks != nil && s != nil && s.Method == "mixup" {
		return plan.OptionErrorf(optname.AugmentSpecPolicy, "mixup cannot mix the classes of %s: use cutmix or mosaic", optname.AnnotationSpecMasks)
	}
	return nil
}

// MixtureOf returns the mixture of a draw; nil without one. It shares the Partners.
func MixtureOf(d augment.Draw) *augment.Mixture {
	for _, s := range d.Steps {
		if s, ok := s.(augment.Mixture); ok {
			return &s
		}
	}
	return nil
}

// ring holds the images of a split in the order of hashes of their keys. The partner of a variant is
// the image that follows the variant's own hash. So an image that is added or removed only changes
// the variants whose hashes are between it and the image before it.
type ring []ringImage

type ringImage struct {
	hash  uint64
	image int32
}

// AddRing adds the ring of the next split, with those of the images that can be read as far as is
// known.
func (s *Set) AddRing(images []int32) {
	h := plan.NewHasher(s.Options.Seed, plan.ForPartner)
	var r ring
	for _, i := range images {
		if p := &s.Images[i]; p.Bad() == nil {
			r = append(r, ringImage{h.Key(p.Path), i})
		}
	}
	slices.SortFunc(r, func(a, b ringImage) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.image, b.image))
	})
	s.rings = append(s.rings, r)
}

// after returns the image that follows a hash and is not the given one, unless that is alone.
func (r ring) after(hash uint64, not int32) int32 {
	at, _ := slices.BinarySearchFunc(r, hash, func(e ringImage, hash uint64) int { return cmp.Compare(e.hash, hash) })
	for i := range r {
		if e := r[(at+i)%len(r)]; e.image != not {
			return e.image
		}
	}
	return not
}

// Partners returns the images that are mixed into a sample.
func (s *Set) Partners(m Sample) []int32 {
	pic := &s.Images[m.Image]
	if m.Copy == 0 || len(s.rings) == 0 || pic.Bad() != nil {
		return nil
	}
	n := s.Options.Augment.Policy.Partners(s.Options.Seed, pic.Path, int(m.Copy))
	h := plan.NewHasher(s.Options.Seed, plan.ForPartner)
	images := make([]int32, n)
	for k := range images {
		key := pic.Path + "\x00" + strconv.Itoa(int(m.Copy)) + "\x00" + strconv.Itoa(k)
		images[k] = s.rings[s.SplitOf(int(m.Image))].after(h.Key(key), m.Image)
	}
	return images
}

// Needs appends the images that a sample is made from, its own first; none if the listing rejected
// it.
func (s *Set) Needs(images []int32, m Sample) []int32 {
	if s.Images[m.Image].Bad() != nil {
		return images
	}
	return append(append(images, m.Image), s.Partners(m)...)
}

// PartnerFault is a fault of a partner, and of what it is mixed into.
func PartnerFault(stage string, pic *origin.Image, err error) *Fault {
	return &Fault{Stage: stage, Err: fmt.Errorf("partner %s: %w", jsontext.Readable(pic.Path), err), partner: true}
}

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
			hash = Unread
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

// drawMixture draws what is done to a sample and its partners, and returns the memory that these
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
		place := newPlacement(pm.info)
		partners[k] = augment.Partner{
			Key: jsontext.Readable(pic.Path), Width: place.width, Height: place.height, Boxes: place.shownBoxes(pic.Annotated()),
		}
		need += pm.info.Memory() + 6*int64(place.width)*int64(place.height) + s.annotationMemory(pic, pm.info, 0)
	}
	if m.channels == 0 { // as the images have, which must be as many
		if m.channels = 3; gray {
			m.channels = 1
		}
	}
	pic, p := &s.Images[m.Sample.Image], newPlacement(info)
	m.mixture = s.Options.Augment.Policy.DrawMixed(s.Options.Seed, pic.Path, int(m.Sample.Copy), p.width, p.height, p.shownBoxes(pic.Annotated()), partners)
	if mixture := MixtureOf(m.mixture); mixture != nil {
		need += 6 * int64(mixture.Size) * int64(mixture.Size)
		w, h := m.mixture.Size(p.width, p.height)
		need += max(0, s.resultMemory(w, h)-s.resultMemory(p.width, p.height))
	}
	return need, nil
}

// decodePartners decodes the partners of a sample and applies their own steps.
func (s *Maker) decodePartners(m *Work) *Fault {
	mixture := MixtureOf(m.mixture)
	for k, pm := range m.partners {
		one := &mixture.Partners[k]
		spec := decodeplan.Spec{Codec: s.codec, Channels: m.channels, ExactPixels: s.Options.ExactPixels, Spare: s}
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

// placeMixedObjects adds the objects of the partners of a sample, placed by the placement of its
// own. Those that cannot be used are in the ledger for their own image.
func (s *placer) placeMixedObjects(m *Work, own *placement) {
	faults := len(m.Objects.Faults)
	for k, pm := range m.partners {
		image := s.Images[pm.Sample.Image].Annotated()
		if image == nil {
			continue
		}
		place := *own
		p := newPlacement(pm.info)
		place.width, place.height, place.storedWidth, place.storedHeight, place.orientation = p.width, p.height, p.storedWidth, p.storedHeight, p.orientation
		place.draw = m.Task.Draw.Of(k+1, own.width, own.height)
		s.PlaceObjects(m, &place, image)
	}
	m.Objects.Dropped += annotation.Unusable(m.Objects.Faults[faults:])
	m.Objects.Faults = m.Objects.Faults[:faults]
}

// mixMasks returns the draw of a sample for its mask of classes, with the masks of its partners.
func (s *placer) mixMasks(m *Work, fill uint8) (augment.Draw, error) {
	draw := m.Task.Draw.Mask(fill)
	partners := MixtureOf(m.Task.Draw).Partners
	for k, pm := range m.partners {
		p := newPlacement(pm.info)
		p.draw = partners[k].Draw
		w, h, err := s.decodeMask(pm, p, s.Images[pm.Sample.Image].Mask())
		if err != nil {
			return draw, err
		}
		if MixtureOf(draw).Partners[k].Image, err = p.mask(pm, w, h, fill); err != nil {
			return draw, err
		}
	}
	return draw, nil
}

// storesMixture reports whether records have the labels of what they are mixed of: in a set with
// mixtures, if each image has labels of its own.
func (s *Set) storesMixture() bool {
	return s.Options.Augment.Mixes() && (s.writesLabels() || s.Carried != nil && s.Carried.Labels && s.Carried.Counted)
}

// buildMixture adds the labels of what a sample is mixed of, and their weights.
func (s *recordMaker) buildMixture(m *Work) {
	r := &m.Record
	r.ids, r.weights = r.ids[:0], r.weights[:0]
	add := func(image int32, weight float64) {
		pic := &s.Images[image]
		if !s.Options.Labels.Several() {
			r.ids, r.weights = append(r.ids, s.labelID(pic.ID)), append(r.weights, float32(weight))
			return
		}
		for _, id := range pic.Row().Labels {
			r.ids, r.weights = append(r.ids, s.labelID(id)), append(r.weights, float32(weight))
		}
	}
	if len(m.partners) == 0 {
		add(m.Sample.Image, 1)
	} else {
		mixture := MixtureOf(m.mixture)
		add(m.Sample.Image, mixture.Lambda)
		for k, pm := range m.partners {
			add(pm.Sample.Image, mixture.Partners[k].Weight)
		}
	}
	r.Builder.Int64(s.Options.Key(imagekey.MixLabel), r.ids...)
	r.Builder.Float(s.Options.Key(imagekey.MixWeight), r.weights...)
}
