package coco

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/internal/annotation"
)

// join makes a set of the lists of a file, whose base name is source.
func join(lists []*parsed, source string) (*annotation.Set, error) {
	if err := checkKind(lists); err != nil {
		return nil, err
	}
	set := &annotation.Set{Format: "coco", Unused: annotation.Fields{}}
	for _, l := range lists {
		set.Unused.Merge(l.unused)
	}
	classes, err := joinClasses(set, lists)
	if err != nil {
		return nil, err
	}
	images, err := joinImages(set, lists, source)
	if err != nil {
		return nil, err
	}
	named, err := joinKeypoints(set, lists)
	if err != nil {
		return nil, err
	}
	// Objects of an image are next to each other in one slice.
	stateSizes(set, lists, images)
	count, faults, strangers := make([]int, len(set.Images)), 0, 0
	for _, l := range lists {
		for i := range l.rows {
			r := &l.rows[i]
			r.target = -1
			if at, ok := images[r.image]; ok {
				r.target = at
			}
			if !r.lost() && r.target < 0 {
				r.reason, r.maskOnly = "unknown image: image_id "+r.image, false
				if strangers++; strangers > maxStrangers {
					r.leftOut = true
				}
				continue
			}
			if !r.lost() {
				r.check(set, classes)
			}
			if !r.lost() {
				r.checkKeypoints(set, named)
				set.Unused.Count(annotation.OutsideKeypoints, r.outside(&set.Images[r.target]))
				count[r.target]++
			}
			reason := r.anyReason()
			if reason == "" {
				continue
			}
			if faults++; faults > maxFaults {
				return nil, tooManyFaults(&annotation.Fault{Name: r.name, Reason: reason})
			}
		}
	}
	total := 0
	for _, n := range count {
		total += n
	}
	objects := make([]annotation.Object, total)
	for _, l := range lists {
		for _, f := range l.faults {
			f.Source = source
			set.Faults = append(set.Faults, f)
		}
	}
	for i, n := range count {
		set.Images[i].Objects, objects = objects[:0:n], objects[n:]
	}
	for i, l := range lists {
		for j := range l.rows {
			l.rows[j].add(set, classes, source)
		}
		lists[i] = nil // its memory is free
	}
	if n := strangers - maxStrangers; n > 0 {
		set.Faults = append(set.Faults, annotation.Fault{Source: source, Reason: fmt.Sprintf("%d more annotations of unknown images", n)})
	}
	return set, nil
}

// stateSizes gives images without a stated size the size of their run-length encodings, if these
// agree.
func stateSizes(set *annotation.Set, lists []*parsed, images map[string]int32) {
	differ := map[int32]bool{}
	stated := map[int32]bool{} // by an encoding
	for _, l := range lists {
		for i := range l.rows {
			r := &l.rows[i]
			at, ok := images[r.image]
			if !ok || r.width == 0 || r.lost() {
				continue
			}
			im := &set.Images[at]
			w, h := int(r.width), int(r.height)
			switch {
			case stated[at]:
				differ[at] = differ[at] || im.Width != w || im.Height != h
			case im.Width == 0 && im.Height == 0:
				im.Width, im.Height, stated[at] = w, h, true
			}
		}
	}
	for at := range differ {
		if differ[at] {
			set.Images[at].Width, set.Images[at].Height = 0, 0
		}
	}
}

// maxStrangers is the maximum number of annotations of unknown images that are named: the list of
// images may cover only some of the annotations.
const maxStrangers = 1000

// check sets the reason why a row of a known form cannot be used in a set, or its mask.
func (r *row) check(set *annotation.Set, classes map[int64]int32) {
	if _, ok := classes[r.category]; !ok {
		r.reason, r.maskOnly = fmt.Sprintf("unknown category: category_id %d", r.category), false
		return
	}
	im := &set.Images[r.target]
	w, h := int32(im.Width), int32(im.Height)
	if r.region != nil && r.width > 0 && (w > 0 && r.width != w || h > 0 && r.height != h) {
		r.reason, r.maskOnly = fmt.Sprintf("RLE size is that of %d x %d pixels, in an image of %d x %d", r.width, r.height, w, h), true
		r.region = nil
	}
}

// add adds a row to a set, as an object, as a fault, or as both.
func (r *row) add(set *annotation.Set, classes map[int64]int32, source string) {
	if r.leftOut {
		return
	}
	faults := &set.Faults
	if r.target >= 0 {
		faults = &set.Images[r.target].Faults
	}
	f := annotation.Fault{Name: r.name, Image: r.image, Source: source, Reason: r.reason}
	if r.maskOnly {
		f.Part = annotation.PartMask
	}
	if r.reason != "" {
		*faults = append(*faults, f)
	}
	if r.lost() {
		return
	}
	o := annotation.Object{
		Name: r.name, Class: classes[r.category], Box: r.box, Area: r.area, Crowd: r.crowd,
		Region: r.region, NoMask: r.maskOnly && r.region == nil,
	}
	if r.points != nil {
		if o.Keypoints = r.points.list; r.points.reason != "" {
			f.Part, f.Reason = annotation.PartKeypoints, r.points.reason
			*faults = append(*faults, f)
		}
	}
	im := &set.Images[r.target]
	im.Objects = append(im.Objects, o)
}

// joinClasses adds the classes to a set. It returns their positions by their ids.
func joinClasses(set *annotation.Set, lists []*parsed) (map[int64]int32, error) {
	for _, l := range lists {
		set.Classes = append(set.Classes, l.classes...)
		l.classes = nil
	}
	slices.SortStableFunc(set.Classes, func(a, b annotation.Class) int { return cmp.Compare(a.ID, b.ID) })
	set.Classes = slices.Compact(set.Classes)
	at := make(map[int64]int32, len(set.Classes))
	for i, c := range set.Classes {
		if j, ok := at[c.ID]; ok {
			return nil, fmt.Errorf("two categories with id %d: %q and %q", c.ID, set.Classes[j].Name, c.Name)
		}
		at[c.ID] = int32(i)
	}
	return at, nil
}

// joinImages adds the images to a set. It returns their positions by their ids.
func joinImages(set *annotation.Set, lists []*parsed, source string) (map[string]int32, error) {
	total := 0
	for _, l := range lists {
		total += len(l.images)
	}
	set.Images = make([]annotation.Image, 0, total)
	at := make(map[string]int32, total)
	for _, l := range lists {
		for _, im := range l.images {
			im.Source = source
			if im.ID == "" {
				set.Images = append(set.Images, im)
			} else if i, ok := at[im.ID]; !ok {
				at[im.ID] = int32(len(set.Images))
				set.Images = append(set.Images, im)
			} else if other := set.Images[i]; other.Name != im.Name || other.Width != im.Width || other.Height != im.Height {
				return nil, fmt.Errorf("two images with id %s: %q of %d x %d pixels and %q of %d x %d", im.ID, other.Name, other.Width, other.Height, im.Name, im.Width, im.Height)
			}
		}
		l.images = nil
	}
	slices.SortStableFunc(set.Images, func(a, b annotation.Image) int { return cmp.Compare(a.Name, b.Name) })
	for i, im := range set.Images {
		if im.ID != "" {
			at[im.ID] = int32(i)
		}
	}
	return at, nil
}

// checkKind returns an error for the lists of another kind of COCO's files.
func checkKind(lists []*parsed) error {
	boxes, other := 0, ""
	for _, l := range lists {
		boxes += l.boxes
		other = cmp.Or(other, l.other)
	}
	if boxes == 0 && other != "" {
		return fmt.Errorf("no annotation has a bbox: a COCO %s file; give the instances file", other)
	}
	return nil
}
