package sample

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/region"
)

// placer moves objects and masks with the pixels of their image.
type placer struct {
	*Set
	codec *augment.Codec
}

// placedObject is an object of a record.
type placedObject struct {
	*annotation.Object
	box     [4]float32 // xmin, ymin, xmax and ymax in shares of the stored image
	area    float32    // in pixels of the stored image
	maskEnd int        // of its mask in Work.masks
}

// Objects are the objects of the sample in progress.
type Objects struct {
	placed    []placedObject
	masks     []byte           // PNGs, one after the other
	keypoints []placedKeypoint // as many for each placed object
	Faults    []annotation.Fault
	Dropped   int64 // lost to crops, or hardly visible
}

func (o *Objects) reset() {
	o.placed, o.masks, o.keypoints, o.Faults, o.Dropped = o.placed[:0], o.masks[:0], o.keypoints[:0], o.Faults[:0], 0
}

// appendMasks appends the masks of the placed objects to dst.
func (o *Objects) appendMasks(dst [][]byte) [][]byte {
	begin := 0
	for i := range o.placed {
		dst = append(dst, o.masks[begin:o.placed[i].maskEnd])
		begin = o.placed[i].maskEnd
	}
	return dst
}

// MaxMasks bounds the instance masks of a record, in bytes: with them and its image, readers still
// take the record. It is a variable for tests.
var MaxMasks = origin.MaxStored / 4

// PlaceObjects makes the objects of an image as it is stored. Those that cannot be used are faults,
// and so are masks that cannot be: their objects have empty ones.
func (s *placer) PlaceObjects(m *Work, p *placement, image *annotation.Image) {
	scale := p.areaScale()
	for i := range image.Objects {
		object := &image.Objects[i]
		placed, unmasked, err := s.placeObject(m, p, image, i, scale)
		refuse := func(err error, part annotation.Part) {
			m.Objects.Faults = append(m.Objects.Faults, annotation.Fault{Name: object.Name, Source: image.Source, Reason: err.Error(), Part: part})
		}
		switch {
		case err != nil:
			refuse(err, "")
		case placed.Object == nil:
			m.Objects.Dropped++
		default:
			m.Objects.placed = append(m.Objects.placed, placed)
			s.placeKeypoints(m, p, image, i)
		}
		if unmasked != nil {
			refuse(unmasked, annotation.PartMask)
		}
	}
}

// placeObject makes object i; its Object is nil if too little of it is visible. An error says why
// the annotation cannot be used, and unmasked why its mask cannot be.
func (s *placer) placeObject(m *Work, p *placement, image *annotation.Image, i int, scale float64) (none placedObject, unmasked, err error) {
	object := &image.Objects[i]
	shown, err := p.shownBox(image, object.Box)
	if err != nil {
		return none, nil, err
	}
	masked, drawn := s.Options.Annotations.InstanceMasks || m.followed.movesMasks, false
	if len(m.Objects.masks) > MaxMasks {
		return none, nil, fmt.Errorf("the masks of the objects before it take %d bytes, and a record holds at most %d", len(m.Objects.masks), MaxMasks)
	}
	if n := s.keypointBytes() * int64(len(m.Objects.placed)); n > MaxKeypointBytes {
		return none, nil, fmt.Errorf("the keypoints of the objects before it take %d bytes, and a record holds at most %d", n, MaxKeypointBytes)
	}
	box, visible := p.box(shown)
	if masked { // even if nothing is visible: a broken mask is a fault of every copy
		drawn, unmasked = s.drawMask(m, p, image, i)
	}
	const rounding = 1e-9
	placed := placedObject{Object: object, box: p.shares(box)}
	if visible < s.Options.Annotations.MinVisibility-rounding || !(placed.box[0] < placed.box[2] && placed.box[1] < placed.box[3]) {
		return none, unmasked, nil
	}
	area := object.Area
	if math.IsNaN(area) {
		area = shown.Area()
	}
	area *= scale * visible
	if masked {
		w, h := p.regionSize(image)
		mask, err := p.mask(m, w, h, 0)
		if err != nil {
			return none, unmasked, err
		}
		pixels := countPixels(mask)
		if drawn && pixels == 0 {
			return none, unmasked, nil
		}
		if drawn && visible < 1-rounding {
			area = float64(pixels)
		}
		m.Objects.masks = region.AppendPNG(m.Objects.masks, mask.Pix, mask.Width, mask.Height)
	}
	placed.area, placed.maskEnd = float32(area), len(m.Objects.masks)
	return placed, unmasked, nil
}

// shownBox returns a box of an annotation in pixels of the image as shown, clipped to it.
func (p *placement) shownBox(image *annotation.Image, b annotation.Box) (augment.Box, error) {
	box := augment.Box(b)
	if image.Relative {
		w, h := float64(p.width), float64(p.height)
		box = augment.Box{XMin: b.XMin * w, YMin: b.YMin * h, XMax: b.XMax * w, YMax: b.YMax * h}
	}
	switch {
	case box.Area() == 0:
		return box, fmt.Errorf("the box has no area: %g,%g to %g,%g", b.XMin, b.YMin, b.XMax, b.YMax)
	case p.turned(image.Width, image.Height):
		box = box.Orient(p.orientation, p.storedWidth, p.storedHeight)
	}
	clipped := box.Clip(p.width, p.height)
	if clipped.Area() == 0 {
		return box, fmt.Errorf("the box is outside of the image, which is %dx%d: %g,%g to %g,%g", p.width, p.height, b.XMin, b.YMin, b.XMax, b.YMax)
	}
	return clipped, nil
}

// shares returns a box in pixels of the stored image as shares of its size.
func (p *placement) shares(b augment.Box) [4]float32 {
	w, h := float64(p.resultWidth), float64(p.resultHeight)
	share := func(v, of float64) float32 { return float32(min(max(v/of, 0), 1)) }
	return [4]float32{share(b.XMin, w), share(b.YMin, h), share(b.XMax, w), share(b.YMax, h)}
}

// regionSize is the size of the image that regions are annotated on.
func (p *placement) regionSize(image *annotation.Image) (w, h int) {
	if p.turned(image.Width, image.Height) {
		return p.storedWidth, p.storedHeight
	}
	return p.width, p.height
}

// drawMask draws the mask of object i into m.drawn, at the size of the annotated image, and reports
// whether it has pixels. An error says why it cannot be used; it is then empty. It is empty without
// an error if a fault of the annotations says why, or if the record has it so.
func (s *placer) drawMask(m *Work, p *placement, image *annotation.Image, i int) (drawn bool, err error) {
	object := &image.Objects[i]
	w, h := p.regionSize(image)
	switch {
	case m.followed.movesMasks:
		err = s.decodeObjectMask(m, p, i)
		drawn = err == nil && countPixels(&m.drawn) > 0
	case object.Region != nil:
		m.drawn.Reset(w, h, 1)
		if err = region.Fill(m.drawn.Pix, w, h, object.Region); err == nil && countPixels(&m.drawn) == 0 {
			err = errors.New("its region has no pixel of the image")
		}
		drawn = err == nil
	case !object.NoMask:
		err = errors.New("it has no region to make a mask of")
	}
	if !drawn {
		m.drawn.Reset(w, h, 1)
		clear(m.drawn.Pix)
	}
	return drawn, err
}

// countPixels counts the pixels of a mask that are 1, and not 0.
func countPixels(mask *augment.Image) (n int) {
	for y := range mask.Height {
		n += bytes.Count(mask.Row(y), []byte{1})
	}
	return n
}
