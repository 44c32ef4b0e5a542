package yolo

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

// parser reads files. It may be used concurrently.
type parser struct {
	classes int
	pose    pose
	regions bool
	unused  annotation.FieldsOfFiles
}

// slack is the maximum distance of a point of a polygon, or a keypoint, from the image, as a share
// of its size. Larger values are pixels, the ids of tracks, or the visibility of keypoints.
const slack = 0.1

// listOfImages is the error for a file of paths of images.
const listOfImages = "it is a list of images"

// imageExts are the extensions of paths in lists of images.
var imageExts = []string{".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp"}

func (p *parser) parse(im *annotation.Image, data []byte) error {
	text, err := annotation.Text(data)
	if err != nil {
		return err
	}
	im.Relative = true
	im.Objects = make([]annotation.Object, 0, min(bytes.Count(text, []byte("\n"))+1, (len(text)+1)/len("0 1 1 1 1\n")))
	unused := annotation.Fields{}
	defer p.unused.Merge(unused)
	var numbers []float64
	var first []byte // line
	for n, line := range annotation.Lines(text) {
		if first == nil {
			first = line
			end := string(line[max(0, len(line)-8):])
			if slices.Contains(imageExts, strings.ToLower(path.Ext(end))) {
				return errors.New(listOfImages)
			}
		}
		name := fmt.Sprintf("line %d", n)
		o, err := annotation.Object{}, error(nil)
		if numbers, err = appendNumbers(slices.Grow(numbers[:0], (len(line)+1)/2), line); err == nil {
			o, err = p.object(numbers)
		}
		if err != nil {
			if err := im.Refuse(name, n, err.Error()); err != nil {
				return err
			}
			continue
		}
		o.Name = name
		if points := numbers[min(len(numbers), boxFields):]; p.pose.Count > 0 && len(points) > 0 {
			outside := int64(0)
			if o.Keypoints, outside, err = p.pose.read(points); err != nil {
				if err := im.RefuseKeypoints(&o, n, err.Error()); err != nil {
					return err
				}
			}
			unused.Count(annotation.OutsideKeypoints, outside)
		}
		switch n := len(numbers); {
		case n == boxFields+1:
			unused.Count("confidence", 1)
		case n > boxFields && p.pose.Count == 0 && !p.regions:
			unused.Count("polygon", 1)
		}
		im.Objects = append(im.Objects, o)
	}
	if len(im.Objects) == 0 && !hasNumber(first) && len(first) > 0 {
		return fmt.Errorf("it is not a file of labels: its first line is %s", jsonscan.Quoted(first))
	}
	return nil
}

// hasNumber reports whether a field of a line is a number.
func hasNumber(line []byte) bool {
	for field := range bytes.FieldsSeq(line) {
		if _, ok := csvscan.ParseFloat64(field); ok {
			return true
		}
	}
	return false
}

func appendNumbers(numbers []float64, line []byte) ([]float64, error) {
	for field := range bytes.FieldsSeq(line) {
		v, ok := csvscan.ParseFloat64(field)
		if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
			return numbers, fmt.Errorf("field %d is %s: want a finite number", len(numbers)+1, jsonscan.Quoted(field))
		}
		numbers = append(numbers, v)
	}
	return numbers, nil
}

// boxFields is the number of fields of a line with a box.
const boxFields = 5

// object is the object of a line, without its keypoints.
func (p *parser) object(numbers []float64) (o annotation.Object, err error) {
	class := numbers[0]
	switch n := len(numbers); {
	case class != math.Trunc(class) || class < 0:
		return o, fmt.Errorf("the class is %g: want its number, from 0", class)
	case class >= float64(p.classes):
		return o, fmt.Errorf("the class is %g: there are %d, from 0", class, p.classes)
	case p.pose.Count > 0 && n != boxFields && n != p.pose.fields():
		return o, fmt.Errorf("it has %d fields: want %d for a box, and %d for a box and its keypoints, as kpt_shape says", n, boxFields, p.pose.fields())
	case n == boxFields || n == boxFields+1 || p.pose.Count > 0:
		x, y, w, h := numbers[1], numbers[2], numbers[3], numbers[4]
		if w <= 0 || h <= 0 {
			return o, fmt.Errorf("the box is empty: its width is %g and its height %g", w, h)
		}
		o.Box = annotation.Box{XMin: x - w/2, YMin: y - h/2, XMax: x + w/2, YMax: y + h/2}
	case n >= 7 && n%2 == 1:
		for i, v := range numbers[1:] {
			if v < -slack || v > 1+slack {
				return o, fmt.Errorf("field %d of a polygon is %g: want shares of the image, from 0 to 1", i+2, v)
			}
		}
		o.Box = annotation.Extent(numbers[1:])
		if p.regions {
			o.Region = &annotation.Region{Polygons: [][]float64{slices.Clone(numbers[1:])}, Width: 1, Height: 1}
		}
	case n < boxFields:
		return o, fmt.Errorf("it has %d fields: want the class, x, y, width and height", n)
	default:
		return o, fmt.Errorf("it has %d fields: want 5 or 6 for a box, and an odd number for a polygon; keypoints want kpt_shape in data.yaml", n)
	}
	o.Class, o.Area = int32(class), math.NaN()
	return o, o.Box.Check()
}
