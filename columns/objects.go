package columns

import (
	"fmt"
	"slices"
)

// BoxFormat is the order of the four numbers of a box. The zero value is XYXY.
type BoxFormat uint8

// The formats of boxes, with what wants them: with pixels, unless Relative of the [ObjectSpec] is
// set.
const (
	XYXY   BoxFormat = iota // xmin, ymin, xmax, ymax: torchvision, Keras
	YXYX                    // ymin, xmin, ymax, xmax: TensorFlow and its Object Detection API, Relative
	XYWH                    // xmin, ymin, width, height: COCO
	CXCYWH                  // center x, center y, width, height: YOLO and DETR, Relative
)

var boxFormatNames = [...]string{"xyxy", "yxyx", "xywh", "cxcywh"}

// String returns the name in torchvision, such as xyxy.
func (f BoxFormat) String() string {
	if int(f) < len(boxFormatNames) {
		return boxFormatNames[f]
	}
	return fmt.Sprintf("BoxFormat(%d)", uint8(f))
}

// ObjectSpec configures how the objects of images become [Objects]. The zero value takes all of
// them, with boxes in pixels.
type ObjectSpec struct {
	// Format is the order of the numbers of a box.
	Format BoxFormat
	// Relative gives boxes in shares of the width and height of the images of the batch. Default: in
	// their pixels with fractions, from the top left corner: a box around a whole image of w by h
	// pixels is 0, 0, w, h.
	Relative bool
	// MaxBoxes is the number of objects of each image: images with fewer are padded, and of those
	// with more the first ones are taken, in the order of the record. With MixUp an image's own
	// objects come first, so that its partner's are cut first. Default: 0, ragged.
	MaxBoxes int
	// MinVisibility, from 0 to 1, drops objects of whose area a smaller share is left in the image
	// after crops and the like. Those without any area left are always dropped.
	MinVisibility float64
	// DropCrowd and DropDifficult leave out objects whose "image/object/is_crowd" or
	// "image/object/difficult" is not 0.
	DropCrowd, DropDifficult bool
	// Masks adds the masks of the objects, from "image/object/mask". A batch of ragged ones that
	// would take more than 1 GiB is an [ErrPadding]; MaxBoxes bounds it.
	Masks bool
	// Keypoints adds the keypoints of the objects, from "image/object/keypoint/x" and so on: how many
	// each object has, 1 to 1024. Default: 0, without.
	Keypoints int
	// KeypointFlip has for each of the Keypoints the index of the one that it is in a mirror image,
	// as flip_idx of YOLO has: for a nose, a left and a right eye 0, 2, 1. Default: derived from
	// the names in "image/object/keypoint/text", by exchanging left and right, or l and r.
	KeypointFlip []int
}

// maxKeypoints is the maximum number of keypoints of an object.
const maxKeypoints = 1024

// Validate returns an error for a field out of range.
func (s ObjectSpec) Validate() error {
	switch {
	case int(s.Format) >= len(boxFormatNames):
		return fmt.Errorf("objects: %v: want xyxy, yxyx, xywh or cxcywh", s.Format)
	case s.MaxBoxes < 0:
		return fmt.Errorf("objects: %d boxes at most: want 1 or more, or 0 for ragged ones", s.MaxBoxes)
	case !(s.MinVisibility >= 0 && s.MinVisibility <= 1):
		return fmt.Errorf("objects: a visibility of %v at least: want 0 to 1", s.MinVisibility)
	case s.Keypoints < 0 || s.Keypoints > maxKeypoints:
		return fmt.Errorf("objects: %d keypoints: want 1 to %d, or 0 for none", s.Keypoints, maxKeypoints)
	case s.KeypointFlip != nil && !s.flips():
		return fmt.Errorf("objects: a flip of %d: want the index of each of the %d keypoints in a mirror image, so that two flips change nothing", s.KeypointFlip, s.Keypoints)
	}
	return nil
}

// flips reports whether KeypointFlip has an index for each point, which points back.
func (s *ObjectSpec) flips() bool {
	for i, k := range s.KeypointFlip {
		if k < 0 || k >= len(s.KeypointFlip) || s.KeypointFlip[k] != i {
			return false
		}
	}
	return len(s.KeypointFlip) == s.Keypoints
}

// Objects are the objects of the images of a batch, image after image, and in each in the order of
// its record. Each slice is contiguous; a tensor library may use it without a copy.
type Objects struct {
	// Boxes are {objects, 4}, or {images, MaxBoxes, 4} padded with 0.
	Boxes []float32
	// Labels are the classes of the boxes, as stored: {objects}, or {images, MaxBoxes} padded with
	// -1.
	Labels []int64
	// Indexes are where the objects are in the lists of their records, from 0, in the shape of
	// Labels and padded with -1. They find other features of the objects, such as
	// "image/object/area", in ragged columns.
	Indexes []int64
	// Weights, in the shape of Labels and padded with 0, are the shares that the images with the
	// objects have in mixed ones; nil if images are not mixed.
	Weights []float32
	// Masks, with Masks of the [ObjectSpec], are 1 in the object and 0 elsewhere, in the size of the
	// images: {objects, height, width}, or {images, MaxBoxes, height, width} padded with 0.
	Masks []uint8
	// MaskShape is the shape of Masks; empty without.
	MaskShape []int
	// Keypoints, with Keypoints of the [ObjectSpec], are x, y and visibility: 0 for a point that is not
	// labelled, or no longer in the image, and has the coordinates 0, 0; 1 for a hidden one and 2 for
	// one that is visible. x and y are in pixels or, with Relative, in shares, whatever the Format. They
	// are {objects, points, 3}, or {images, MaxBoxes, points, 3} padded with 0.
	Keypoints []float32
	// KeypointShape is the shape of Keypoints; empty without.
	KeypointShape []int
	// Splits, {images + 1}, delimits ragged objects: image i has those from Splits[i] up to, not
	// including, Splits[i+1]. It is nil with MaxBoxes.
	Splits []int64
	// Counts, {images}, are the numbers of objects without padding.
	Counts []int64
	// Hidden is the number of objects of the batch that were dropped by MinVisibility, or because
	// nothing of them was left. Cut is the number of objects dropped beyond MaxBoxes.
	Hidden, Cut int
}

// Clone returns a copy that stays valid.
func (o *Objects) Clone() Objects {
	return Objects{
		Boxes: slices.Clone(o.Boxes), Labels: slices.Clone(o.Labels), Indexes: slices.Clone(o.Indexes), Weights: slices.Clone(o.Weights),
		Masks: slices.Clone(o.Masks), MaskShape: slices.Clone(o.MaskShape),
		Keypoints: slices.Clone(o.Keypoints), KeypointShape: slices.Clone(o.KeypointShape), Splits: slices.Clone(o.Splits), Counts: slices.Clone(o.Counts), Hidden: o.Hidden, Cut: o.Cut,
	}
}
