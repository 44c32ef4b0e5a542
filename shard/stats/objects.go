package stats

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/tfrec/tfrec/internal/jsontext"
)

// Objects describes the objects in images: the features of TensorFlow's Object Detection API.
type Objects struct {
	// Images is the number of records with lists of boxes, Empty the number with empty lists, and
	// Objects the number of boxes.
	Images  int64 `json:"images"`
	Empty   int64 `json:"empty"`
	Objects int64 `json:"objects"`
	// Malformed counts records whose lists have another kind or length, of which nothing else is in
	// the figures. BadBoxes counts boxes that are not finite or are empty, which are in no figure of
	// sizes. `verify --deep` names both.
	Malformed int64 `json:"malformed,omitempty"`
	BadBoxes  int64 `json:"bad_boxes,omitempty"`
	// Crowd, Difficult and Truncated count the objects that are, Masks those with a mask.
	Crowd     int64 `json:"crowd,omitempty"`
	Difficult int64 `json:"difficult,omitempty"`
	Truncated int64 `json:"truncated,omitempty"`
	Masks     int64 `json:"masks,omitempty"`
	// PerImage are the numbers of objects of an image.
	PerImage *Numbers `json:"per_image"`
	// Classes count the objects by class: ids in order, then texts of objects without an id.
	Classes []ObjectClass `json:"classes"`
	// ClassesOmitted counts the objects of classes above MaxLabels.
	ClassesOmitted int64 `json:"classes_omitted,omitempty"`
	// Sizes count the boxes by their area in pixels of the stored image.
	Sizes ObjectSizes `json:"sizes"`
	// Area are the areas of boxes as shares of the image's. Aspect are their widths over their
	// heights, both in pixels, to five decimals.
	Area   *Numbers `json:"area"`
	Aspect *Numbers `json:"aspect"`
}

// ObjectClass is one class of objects.
type ObjectClass struct {
	// ID of the class; nil if its objects have texts only.
	ID *int64 `json:"id,omitempty"`
	// Name of the class; empty if unknown.
	Name    string `json:"name,omitempty"`
	Objects int64  `json:"objects"`
	// Images is the number of images with such objects.
	Images int64 `json:"images"`
}

// ObjectSizes counts boxes as COCO divides objects: small ones are below 32x32 pixels, large ones
// are of 96x96 or more. Boxes in images without image/height and image/width are Unknown.
type ObjectSizes struct {
	Small   int64 `json:"small"`
	Medium  int64 `json:"medium"`
	Large   int64 `json:"large"`
	Unknown int64 `json:"unknown,omitempty"`
}

// objects returns the figures of objects; nil if no record has any lists of boxes. top is the number
// of most frequent numbers listed.
func (s *objectStat) objects(ctx context.Context, names *labelNames, top int) *Objects {
	if s.images+s.malformed == 0 {
		return nil
	}
	o := &Objects{
		Images: s.images, Empty: s.empty, Objects: s.boxes, Malformed: s.malformed, BadBoxes: s.badBoxes,
		Crowd: s.crowd, Difficult: s.difficult, Truncated: s.truncated, Masks: s.masks,
		PerImage: s.perImage.numbers(top), Classes: []ObjectClass{}, ClassesOmitted: s.omitted,
		Sizes: s.sizes, Area: s.area.numbers(top), Aspect: s.aspect.numbers(top),
	}
	for _, key := range s.sortedClasses() {
		count := s.classes[key]
		class := ObjectClass{Name: jsontext.Readable(cmp.Or(names.objectName(ctx, key.id), count.said)), Objects: count.objects, Images: count.images}
		if key.isText {
			class.Name = jsontext.Readable(key.text)
		} else {
			class.ID = &key.id
		}
		o.Classes = append(o.Classes, class)
	}
	return o
}

func (s *objectStat) sortedClasses() []classKey {
	return slices.SortedFunc(maps.Keys(s.classes), func(a, b classKey) int {
		if a.isText != b.isText {
			return map[bool]int{false: -1, true: 1}[a.isText]
		}
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.text, b.text))
	})
}
