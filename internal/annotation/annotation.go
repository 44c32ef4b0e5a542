// Package annotation reads the annotated objects of images from COCO, Pascal VOC, YOLO, KITTI and
// LabelMe files and from CSV tables, as one model.
//
// Each format has a package below this one, which returns a [Set]. [Set.Match] then finds its
// images by name among the images of a source.
package annotation

import "fmt"

// Box is an axis-parallel box, from the top left corner of the image, x to the right and y down; Max
// is outside. It may stick out of the image, and may be empty or upside down: see [Box.Check].
type Box struct {
	XMin, YMin, XMax, YMax float64
}

// Class is a class of objects.
type Class struct {
	ID   int64 // as records have it
	Name string
}

// Set is the contents of a file or a directory of annotations.
type Set struct {
	// Format is the format's name: "coco", "csv", "voc", "yolo", "kitti" or "labelme".
	Format string
	// Classes are all classes, by ID, also those without objects.
	Classes []Class
	// Images are the annotated images, by Name.
	Images []Image
	// Beside are the paths of files that were read in addition to the sources of Images.
	Beside []string
	// Keypoints describes the keypoints of objects.
	Keypoints Keypoints
	// Unused are the members of annotations that are not kept.
	Unused Fields
	// Flags are the flags of objects that a table ("csv") has columns for.
	Flags Flags
	// Faults are the annotations that belong to no image of Images, in the order of the input.
	Faults []Fault
}

// Flags reports which flags annotations state.
type Flags struct {
	Crowd, Truncated bool
}

// IsFile reports whether annotations of a format are a file for all images, which has their names, and
// not a directory with a file for each.
func IsFile(format string) bool { return format == "coco" || format == "csv" }

// Image is the annotations of one image.
type Image struct {
	// Name is the path of the image in the annotations, with "/", or the path of the file that
	// annotates it, below its directory. Its extension does not count.
	Name string
	// Source is the file that they are in, below the path that was read, for the ledger.
	Source string
	// Line is the first line in Source that names the image, from 1; 0 if lines do not count.
	Line int64
	// ID is the image's own id, such as its id in COCO; "" if there is none.
	ID string
	// Width and Height are the size that is stated, in pixels; 0 if none is.
	Width, Height int
	// Relative means that boxes and polygons are in shares of the image's width and height, and not
	// in pixels.
	Relative bool
	// Objects are the usable objects, in the order of the input.
	Objects []Object
	// Faults are the annotations of this image that cannot be used, in the order of the input.
	Faults []Fault
	// Unreadable is why nothing is known of the image's objects, so that it cannot be used at all;
	// "" if it can.
	Unreadable string
}

// Object is one annotated object.
type Object struct {
	// Name identifies the object for the ledger: COCO's id, "object 3", from 1, or "line 3" in a file
	// of an object a line.
	Name string
	// Class is the index of its class in Set.Classes.
	Class int32
	Box   Box
	// Area is the area of the object in pixels of the annotated image, which for a polygon is less
	// than the area of its box; NaN if it is not stated.
	Area float64
	// Crowd, Difficult and Truncated are 0 or 1.
	Crowd, Difficult, Truncated int8
	// NoMask means that Region is nil for a reason in Image.Faults.
	NoMask bool
	// View is the pose, such as "Left"; "" if none is stated.
	View string
	// Region is which pixels are the object's; nil if only its box is known.
	Region *Region
	// Keypoints are the labelled points among Set.Keypoints, each once, in the same coordinates as
	// Box.
	Keypoints []Keypoint
}

// Region is a set of pixels: the union of polygons and a run-length encoding.
type Region struct {
	// Polygons are closed outlines, x and y in turns, whose union is in the region. Each has at least
	// three points.
	Polygons [][]float64
	// Runs are the lengths of runs of pixels outside and inside in turns, down the columns of an
	// image of Width x Height pixels, which they fill. nil if there are none.
	Runs []uint32
	// Width and Height are the size of the image of Runs. Polygons, like boxes, are in pixels of the
	// image, whatever size is stated, and these are 0; or, in an image that is Relative, 1.
	Width, Height int
}

// Fault is an annotation that cannot be used.
type Fault struct {
	// Name identifies the annotation in its file: its id, or "object 3"; "" for the file.
	Name string
	// Image is the image that it names, as it names it; "" if none.
	Image string
	// Source is the file, below the path that was read.
	Source string
	// Line is the line in that file, from 1; 0 if lines do not count.
	Line int64
	// Reason describes the problem.
	Reason string
	// Part is the only part of the annotation that cannot be used. The annotation is an object. "" is
	// for a whole annotation.
	Part Part
}

// Part is a part of an annotation, without which it is still an object.
type Part string

// The parts of annotations.
const (
	PartMask      Part = "mask"
	PartKeypoints Part = "keypoints"
)

// Unusable counts the faults that are of whole annotations, and not only of parts.
func Unusable(faults []Fault) (n int64) {
	for i := range faults {
		if faults[i].Part == "" {
			n++
		}
	}
	return n
}

// maxFaults is the maximum number of unusable annotations of an image.
const maxFaults = 1000

// Refuse adds an annotation that cannot be used to Faults; line is 0 if lines do not count. After a
// thousand of them it returns an error: the file is probably of another format.
func (im *Image) Refuse(name string, line int64, reason string) error {
	if len(im.Faults) == maxFaults {
		return fmt.Errorf("more than %d of its annotations cannot be used; %s: %s", maxFaults, im.Faults[0].Name, im.Faults[0].Reason)
	}
	im.Faults = append(im.Faults, Fault{Name: name, Source: im.Source, Line: line, Reason: shorten(reason)})
	return nil
}

// RefuseMask adds the mask of an object that cannot be used to Faults, as Refuse does an annotation.
// The object has no region then.
func (im *Image) RefuseMask(o *Object, reason string) error {
	o.Region, o.NoMask = nil, true
	return im.refusePart(PartMask, o.Name, 0, reason)
}

// RefuseKeypoints adds the keypoints of an object that cannot be used to Faults, as Refuse does an
// annotation. The object has none then.
func (im *Image) RefuseKeypoints(o *Object, line int64, reason string) error {
	o.Keypoints = nil
	return im.refusePart(PartKeypoints, o.Name, line, reason)
}

func (im *Image) refusePart(part Part, name string, line int64, reason string) error {
	if err := im.Refuse(name, line, reason); err != nil {
		return err
	}
	im.Faults[len(im.Faults)-1].Part = part
	return nil
}

// Options configure the reading of annotations.
type Options struct {
	// Regions keeps the regions of objects. Without it they are not even checked.
	Regions bool
	// Workers is the number of goroutines that parse. The result is the same for any number. 0: one
	// a core.
	Workers int
	// Classes name the classes of annotations that have only their numbers (YOLO), in order, where
	// no file lists them.
	Classes []string
}
