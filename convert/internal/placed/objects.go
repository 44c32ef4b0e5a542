package placed

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/annotations"
	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/region"
)

// Placer moves objects and masks with the pixels of their images.
type Placer struct {
	Options     *options.ImageOptions
	Annotations *annotations.Union  // nil without AnnotationSpec.Files
	Keys        []string            // see KeysOf
	Colors      *annotations.Colors // of RGB masks; nil without a list of them
	Masks       bool                // AnnotationSpec.Masks is given
	Codec       *augment.Codec
}

// Objects are the objects and masks of a sample in progress, with memory that is reused.
type Objects struct {
	Faults       []annotation.Fault // annotations that cannot be used
	Dropped      int64              // lost to crops, or hardly visible
	Segmentation []byte             // the mask of classes as it is stored
	placed       []object
	masks        []byte     // PNGs, one after the other
	keypoints    []keypoint // as many for each placed object
	record       record     // the source of the objects, if they are from a record
	lists        lists
	drawn        augment.Image // a mask as it is annotated
	task         augment.Task  // of a mask
	scratch      *augment.Scratch
}

// object is an object of a record.
type object struct {
	*annotation.Object
	box     [4]float32 // xmin, ymin, xmax and ymax in shares of the stored image
	area    float32    // in pixels of the stored image
	maskEnd int        // of its mask in Objects.masks
}

// lists are the lists of the objects of a record, with memory that is reused.
type lists struct {
	floats []float32
	ints   []int64
	texts  []string
	bytes  [][]byte
}

// Reset prepares for another sample. Masks are moved in scratch, which may be shared with the image.
func (o *Objects) Reset(scratch *augment.Scratch) {
	o.placed, o.masks, o.keypoints, o.Faults, o.Dropped = o.placed[:0], o.masks[:0], o.keypoints[:0], o.Faults[:0], 0
	o.record.active, o.record.movesMasks = false, false
	o.scratch = scratch
}

// Release lets go of images of other samples, and returns the bytes of memory that are kept for reuse.
func (o *Objects) Release() int {
	o.task.Draw = augment.Draw{} // it may hold images of partners
	return cap(o.drawn.Pix) + cap(o.task.Pixels.Pix) + cap(o.masks) + cap(o.Segmentation)
}

// Len returns the number of placed objects.
func (o *Objects) Len() int { return len(o.placed) }

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

// Place adds the objects of an image as it is stored. Those that cannot be used are faults,
// and so are masks that cannot be: their objects have empty ones.
func (s *Placer) Place(o *Objects, p *Mapping, image *annotation.Image) {
	scale := p.areaScale()
	for i := range image.Objects {
		object := &image.Objects[i]
		placed, unmasked, err := s.placeObject(o, p, image, i, scale)
		refuse := func(err error, part annotation.Part) {
			o.Faults = append(o.Faults, annotation.Fault{Name: object.Name, Source: image.Source, Reason: err.Error(), Part: part})
		}
		switch {
		case err != nil:
			refuse(err, "")
		case placed.Object == nil:
			o.Dropped++
		default:
			o.placed = append(o.placed, placed)
			s.placeKeypoints(o, p, image, i)
		}
		if unmasked != nil {
			refuse(unmasked, annotation.PartMask)
		}
	}
}

// placeObject makes object i; its Object is nil if too little of it is visible. It returns an error if
// the annotation cannot be used, and unmasked if only its mask cannot.
func (s *Placer) placeObject(o *Objects, p *Mapping, image *annotation.Image, i int, scale float64) (none object, unmasked, err error) {
	of := &image.Objects[i]
	shown, err := p.shownBox(image, of.Box)
	if err != nil {
		return none, nil, err
	}
	masked, drawn := s.Options.Annotations.InstanceMasks || o.record.movesMasks, false
	if len(o.masks) > MaxMasks {
		return none, nil, fmt.Errorf("the masks of the objects before it take %d bytes, and a record holds at most %d", len(o.masks), MaxMasks)
	}
	if n := s.keypointBytes() * int64(len(o.placed)); n > MaxKeypointBytes {
		return none, nil, fmt.Errorf("the keypoints of the objects before it take %d bytes, and a record holds at most %d", n, MaxKeypointBytes)
	}
	box, visible := p.box(shown)
	if masked { // even if nothing is visible: a broken mask is a fault of every copy
		drawn, unmasked = s.drawMask(o, p, image, i)
	}
	const rounding = 1e-9
	placed := object{Object: of, box: p.shares(box)}
	if visible < s.Options.Annotations.MinVisibility-rounding || !(placed.box[0] < placed.box[2] && placed.box[1] < placed.box[3]) {
		return none, unmasked, nil
	}
	area := of.Area
	if math.IsNaN(area) {
		area = shown.Area()
	}
	area *= scale * visible
	if masked {
		w, h := p.regionSize(image)
		mask, err := o.move(p, w, h, 0)
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
		o.masks = region.AppendPNG(o.masks, mask.Pix, mask.Width, mask.Height)
	}
	placed.area, placed.maskEnd = float32(area), len(o.masks)
	return placed, unmasked, nil
}

// drawMask draws the mask of object i into o.drawn, at the size of the annotated image, and reports
// whether it has pixels. It returns an error if the mask cannot be used, which is then empty. It is also
// empty if a fault of the annotations explains it, or if the mask in the record is.
func (s *Placer) drawMask(o *Objects, p *Mapping, image *annotation.Image, i int) (drawn bool, err error) {
	of := &image.Objects[i]
	w, h := p.regionSize(image)
	switch {
	case o.record.movesMasks:
		err = s.decodeObjectMask(o, p, i)
		drawn = err == nil && countPixels(&o.drawn) > 0
	case of.Region != nil:
		o.drawn.Reset(w, h, 1)
		if err = region.Fill(o.drawn.Pix, w, h, of.Region); err == nil && countPixels(&o.drawn) == 0 {
			err = errors.New("its region has no pixel of the image")
		}
		drawn = err == nil
	case !of.NoMask:
		err = errors.New("it has no region to make a mask of")
	}
	if !drawn {
		o.drawn.Reset(w, h, 1)
		clear(o.drawn.Pix)
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
