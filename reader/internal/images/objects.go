package images

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/plural"
)

// maxObjects bounds the padded objects of a batch.
const maxObjects = 1 << 24

// imageObjects are the objects of an image, until the objects of all images of the batch are
// joined.
type imageObjects struct {
	boxes           [][4]float32 // as in the result
	labels, indexes []int64
	masks           []uint8   // with ObjectSpec.Masks, of the first MaxBoxes
	keypoints       []float32 // with ObjectSpec.Keypoints: x, y and visibility
	hidden          int
	err             error // of limitMasks
}

// objectsMemory is the size of the objects in bytes.
func (b *ImageBatch) objectsMemory() int64 {
	o := &b.Objects
	n := 4*cap(o.Boxes) + 8*cap(o.Labels) + 8*cap(o.Indexes) + 4*cap(o.Weights) + 8*cap(o.Splits) + 8*cap(o.Counts) + cap(o.Masks) + 4*cap(o.Keypoints)
	for i := range b.objects {
		n += 16*cap(b.objects[i].boxes) + 8*cap(b.objects[i].labels) + 8*cap(b.objects[i].indexes) + cap(b.objects[i].masks) + 4*cap(b.objects[i].keypoints)
	}
	return int64(n)
}

// checkObjects validates Objects.
func (s *ImageSpec) checkObjects() error {
	if s.Objects == nil {
		return nil
	}
	if err := s.Objects.Validate(); err != nil {
		return fmt.Errorf("images: %w", err)
	}
	switch {
	case s.Steps != columns.NoSteps:
		return errors.New("images: Objects of clips: a record's boxes are those of one image: want Objects or Steps")
	case s.Mix.CutMix != 0:
		return errors.New("images: Objects cannot be mixed with CutMix, which leaves parts of them that are no boxes: want MixUp")
	case s.Classes > 0 && s.NoLabels:
		return errors.New("images: Classes without labels of images, which Objects leave out: set LabelKey or leave out Classes")
	case s.Objects.MaxBoxes > maxObjects/s.Batch:
		return fmt.Errorf("images: %d boxes an image in a batch of %d: want %d boxes a batch at most", s.Objects.MaxBoxes, s.Batch, maxObjects)
	case s.Objects.Keypoints > 0 && s.Objects.MaxBoxes > maxObjects/s.Batch/s.Objects.Keypoints:
		return fmt.Errorf("images: %d boxes an image with %d keypoints in a batch of %d: want %d keypoints a batch at most", s.Objects.MaxBoxes, s.Objects.Keypoints, s.Batch, maxObjects)
	}
	return nil
}

// readObjects parses and checks the objects of a record, for row i of the batch.
func (d *imageDecoder) readObjects(i int) error {
	o := &d.objects
	d.boxes = d.boxes[:0]
	if err := d.batch.objects[i].err; err != nil {
		return fmt.Errorf("feature %q: %w", objects.KeyMask, err)
	}
	if err := o.Parse(d.features); err != nil {
		return err
	}
	if len(o.Labels) != o.Len() {
		return fmt.Errorf("feature %q: %s for %s: want a label for each box", objects.KeyLabel, plural.Of(len(o.Labels), "value"), plural.Of(o.Len(), "box"))
	}
	if d.spec.Objects.Masks && len(o.Masks) != o.Len() {
		return fmt.Errorf("feature %q: %s for %s: want a mask for each box", objects.KeyMask, plural.Of(len(o.Masks), "value"), plural.Of(o.Len(), "box"))
	}
	for k, box := range o.Boxes {
		if err := objects.CheckBox(box); err != nil {
			return fmt.Errorf("box %d: %w", k, err)
		}
	}
	if d.spec.Objects.Keypoints > 0 {
		return d.readKeypoints()
	}
	return nil
}

// placeObjects puts the objects of a record to where they are in row i of the batch. The image of
// ImageKey was decoded last.
func (d *imageDecoder) placeObjects(i int) (err error) {
	o, s, src := &d.objects, d.spec.Objects, &d.source
	width, height := src.draw.Size(src.width, src.height)
	geometry := d.spec.Resize.Geometry(width, height)
	dst := &d.batch.objects[i]
	*dst = imageObjects{boxes: dst.boxes[:0], labels: dst.labels[:0], indexes: dst.indexes[:0], masks: dst.masks[:0], keypoints: dst.keypoints[:0]}
	for k, box := range d.boxes {
		if d.spec.dropsObject(o, k) {
			continue
		}
		box, visible := src.draw.Box(box, src.width, src.height)
		box, left := geometry.Box(box)
		if visible *= left; visible == 0 || visible < s.MinVisibility {
			dst.hidden++
			continue
		}
		dst.boxes = append(dst.boxes, formatBox(s, box, geometry.Width, geometry.Height))
		dst.labels = append(dst.labels, o.Labels[k])
		dst.indexes = append(dst.indexes, int64(k))
		if s.Keypoints == 0 {
			continue
		}
		if dst.keypoints, err = d.appendKeypoints(dst.keypoints, k, &geometry); err != nil {
			return err
		}
	}
	return nil
}

// dropsObjects reports whether objects are left out because of what they are.
func (s *ImageSpec) dropsObjects() bool { return s.Objects.DropCrowd || s.Objects.DropDifficult }

// dropsObject reports whether object k is left out because of what it is.
func (s *ImageSpec) dropsObject(o *objects.Objects, k int) bool {
	return s.Objects.DropCrowd && isSet(o.Crowd, k) || s.Objects.DropDifficult && isSet(o.Difficult, k)
}

// isSet reports whether an object has a flag. Lists missing from a record are empty.
func isSet(flags []int64, k int) bool { return k < len(flags) && flags[k] != 0 }

// box returns a stored box, in shares of the image as stored, in pixels of the upright image.
func (s *imageSource) box(b [4]float32) augment.Box {
	w, h := s.stored()
	x, y := float64(w), float64(h)
	box := augment.Box{XMin: float64(b[0]) * x, YMin: float64(b[1]) * y, XMax: float64(b[2]) * x, YMax: float64(b[3]) * y}
	return box.Clip(w, h).Orient(s.orientation, w, h)
}

// formatBox returns the numbers of a box of an image of w x h pixels.
func formatBox(s *columns.ObjectSpec, b augment.Box, w, h int) [4]float32 {
	if s.Relative {
		x, y := float64(w), float64(h)
		b = augment.Box{XMin: b.XMin / x, YMin: b.YMin / y, XMax: b.XMax / x, YMax: b.YMax / y}
	}
	v := [4]float64{b.XMin, b.YMin, b.XMax, b.YMax}
	switch s.Format {
	case columns.YXYX:
		v = [4]float64{b.YMin, b.XMin, b.YMax, b.XMax}
	case columns.XYWH:
		v[2], v[3] = b.XMax-b.XMin, b.YMax-b.YMin
	case columns.CXCYWH:
		v = [4]float64{(b.XMin + b.XMax) / 2, (b.YMin + b.YMax) / 2, b.XMax - b.XMin, b.YMax - b.YMin}
	}
	return [4]float32{float32(v[0]), float32(v[1]), float32(v[2]), float32(v[3])}
}

// joinObjects puts the objects of the images that are not bad together, after b.Mix was drawn.
func (f *imageFinisher) joinObjects(b *ImageBatch) {
	f.rows = f.rows[:0]
	for i := range b.objects {
		if !f.bad[i] {
			f.rows = append(f.rows, &b.objects[i])
		}
	}
	j := objectJoiner{dst: &b.Objects, most: f.spec.Objects.MaxBoxes, keypoints: f.spec.Objects.Keypoints, weighted: f.spec.Mix != (augment.Mix{})}
	j.reset()
	if f.spec.Objects.Masks {
		j.height, j.width, _ = b.sides(f.spec.NCHW)
		j.growMasks(f.rows, b.Mix.Lambda != 1)
	}
	n := len(f.rows)
	for i, own := range f.rows {
		if b.Mix.Lambda == 1 || n == 1 {
			j.add(own, 1)
		} else {
			j.add(own, float32(b.Mix.Lambda))
			j.add(f.rows[(i+n-1)%n], float32(1-b.Mix.Lambda))
		}
		b.Objects.Hidden += own.hidden
		j.closeRow()
	}
	j.shapeMasks(n)
	j.shapeKeypoints(n)
}

// objectJoiner appends the objects of images to a batch.
type objectJoiner struct {
	dst       *columns.Objects
	most      int  // of an image, all padded to it; 0: ragged
	keypoints int  // of an object
	weighted  bool // the images may be mixed
	count     int  // of the image that is not closed

	width, height int // of masks; 0, 0: none
}

func (j *objectJoiner) reset() {
	o := j.dst
	*o = columns.Objects{
		Boxes: o.Boxes[:0], Labels: o.Labels[:0], Indexes: o.Indexes[:0], Weights: o.Weights[:0],
		Masks: o.Masks[:0], MaskShape: o.MaskShape[:0], Keypoints: o.Keypoints[:0], KeypointShape: o.KeypointShape[:0], Splits: o.Splits[:0], Counts: o.Counts[:0],
	}
	if j.most == 0 {
		o.Splits = append(o.Splits, 0)
	}
}

// add appends objects of an image with this share, as far as there is room.
func (j *objectJoiner) add(from *imageObjects, weight float32) {
	o, n := j.dst, len(from.boxes)
	if j.most > 0 {
		n = min(n, j.most-j.count)
		o.Cut += len(from.boxes) - n
	}
	for _, box := range from.boxes[:n] {
		o.Boxes = append(o.Boxes, box[:]...)
	}
	o.Labels = append(o.Labels, from.labels[:n]...)
	o.Indexes = append(o.Indexes, from.indexes[:n]...)
	o.Masks = append(o.Masks, from.masks[:n*j.width*j.height]...)
	o.Keypoints = append(o.Keypoints, from.keypoints[:n*j.keypoints*keypointNumbers]...)
	j.weigh(n, weight)
	j.count += n
}

// closeRow ends an image.
func (j *objectJoiner) closeRow() {
	o := j.dst
	o.Counts = append(o.Counts, int64(j.count))
	if j.most == 0 {
		o.Splits = append(o.Splits, int64(len(o.Labels)))
	}
	for range j.most - j.count {
		o.Boxes = append(o.Boxes, 0, 0, 0, 0)
		o.Labels = append(o.Labels, -1)
		o.Indexes = append(o.Indexes, -1)
	}
	j.padMasks(max(j.most-j.count, 0))
	for range max(j.most-j.count, 0) * j.keypoints * keypointNumbers {
		o.Keypoints = append(o.Keypoints, 0)
	}
	j.weigh(max(j.most-j.count, 0), 0)
	j.count = 0
}

// weigh appends the weights of n objects.
func (j *objectJoiner) weigh(n int, weight float32) {
	if !j.weighted {
		return
	}
	for range n {
		j.dst.Weights = append(j.dst.Weights, weight)
	}
}
