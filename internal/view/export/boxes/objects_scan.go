package boxes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// objectScan is the result of the first pass over the records of a set with boxes.
type objectScan struct {
	records int64
	classes *classes
	// badIDs is the reason why image/source_id cannot serve as the ids of images: "" if it is an
	// integer in every record and unique in its split.
	badIDs    string
	keypoints keypointScan
	// used are the keys of features of objects that say something of some object.
	used map[string]bool
	// others are the keys of some features that are neither about objects nor about the image itself.
	others map[string]bool
}

// maxOthers bounds the other features to name.
const maxOthers = 10

// scanObjects reads everything once.
func scanObjects(ctx context.Context, in *input.Records, o *spec.Options) (*objectScan, error) {
	s := &objectScan{classes: newClasses(), used: map[string]bool{}, others: map[string]bool{}}
	if err := s.classes.learnSets(ctx, in.Sources); err != nil {
		return nil, err
	}
	boxes := false
	ids := map[string][]int64{} // of images by split, while they may be unique
	var objs objects.Objects
	var err error
	s.records, err = in.Each(ctx, o.Progress, func(r *input.Row) error {
		if err := objs.Parse(&r.Features); err != nil {
			return err
		}
		if err := s.classes.learnFrom(&objs); err != nil {
			return err
		}
		if err := s.keypoints.look(r, &objs); err != nil {
			return err
		}
		boxes = boxes || objects.Present(&r.Features)
		s.look(r, &objs)
		if s.badIDs != "" {
			return nil
		}
		id, ok := sourceID(r)
		if !ok {
			s.badIDs = "it is not an integer in every record"
		}
		ids[r.Split] = append(ids[r.Split], id)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !boxes {
		return nil, fmt.Errorf("no record has boxes (%s and so on): there is nothing to export as %s; other formats take any images", objects.KeyXMin, o.Format)
	}
	for _, split := range slices.Sorted(maps.Keys(ids)) {
		list := ids[split]
		n := len(list)
		slices.Sort(list)
		if s.badIDs == "" && len(slices.Compact(list)) < n {
			s.badIDs = "it repeats in the split " + split
		}
	}
	s.classes.number()
	return s, nil
}

// look takes notice of the features that say something.
func (s *objectScan) look(r *input.Row, o *objects.Objects) {
	for _, f := range []struct {
		key  string
		says bool
	}{
		{objects.KeyDifficult, anyNot(o.Difficult, 0)},
		{objects.KeyTruncated, anyNot(o.Truncated, 0)},
		{objects.KeyCrowd, anyNot(o.Crowd, 0)},
		{objects.KeyView, slices.ContainsFunc(o.Views, func(v []byte) bool { return len(v) > 0 })},
		{objects.KeyArea, len(o.Area) > 0},
		{objects.KeyMask, len(o.Masks) > 0},
		{objects.KeyKeypointX, s.keypoints.count > 0},
		{objects.KeySegmentation, has(r, objects.KeySegmentation)},
	} {
		if f.says {
			s.used[f.key] = true
		}
	}
	for i := 0; i < r.Len() && len(s.others) < maxOthers; i++ {
		if key, _ := r.At(i); !ofImage(string(key)) && !objectKeys[string(key)] && !s.others[string(key)] {
			s.others[string(key)] = true
		}
	}
}

// objectKeys are the keys whose place in a format, if any, the format knows.
var objectKeys = map[string]bool{
	objects.KeyXMin: true, objects.KeyXMax: true, objects.KeyYMin: true, objects.KeyYMax: true, objects.KeyLabel: true, objects.KeyText: true,
	objects.KeyDifficult: true, objects.KeyTruncated: true, objects.KeyView: true, objects.KeyCrowd: true, objects.KeyArea: true, objects.KeyMask: true,
	objects.KeyKeypointX: true, objects.KeyKeypointY: true, objects.KeyKeypointVisibility: true, objects.KeyKeypointNum: true, objects.KeyKeypointText: true,
}

// ofImage reports whether a feature describes the stored image or how it was made.
func ofImage(key string) bool {
	return strings.HasPrefix(key, "image/") && !strings.HasPrefix(key, "image/object/") || strings.HasPrefix(key, "augment/")
}

func has(r *input.Row, key string) bool {
	f, _ := r.Get(key)
	return f.Len() > 0
}

func anyNot(list []int64, v int64) bool {
	return slices.ContainsFunc(list, func(x int64) bool { return x != v })
}

// without notes the features that a format cannot hold: the used ones among keys, and the others.
func (s *objectScan) without(o *spec.Options, keys ...string) {
	keys = slices.DeleteFunc(keys, func(key string) bool { return !s.used[key] })
	keys = append(keys, slices.Sorted(maps.Keys(s.others))...)
	if len(keys) > 0 {
		o.Notef("%s has no place for %s: left out", o.Format, strings.Join(keys, ", "))
	}
}

// checkNames refuses names that do not tell classes apart in formats that have no ids: readers take
// space from their ends.
func (c *classes) checkNames() error {
	ids := map[string]int64{}
	for _, class := range c.list {
		name := strings.TrimSpace(class.Name)
		if other, taken := ids[name]; taken {
			return fmt.Errorf("class %d and class %d are both called %q, and the format has no ids of classes: rename one, or export as coco", other, class.ID, name)
		}
		ids[name] = class.ID
	}
	for _, class := range c.list {
		if strings.TrimSpace(class.Name) != class.Name {
			return fmt.Errorf("the name of class %d begins or ends with space: %q: readers of the format drop it", class.ID, class.Name)
		}
	}
	return nil
}

// sourceID returns image/source_id as the integer that it is.
func sourceID(r *input.Row) (int64, bool) {
	f, _ := r.Get(objects.KeySourceID)
	if id, ok := f.Int64(); ok {
		return id, true
	}
	b, ok := f.Bytes()
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseInt(string(b), 10, 64)
	return id, err == nil && strconv.FormatInt(id, 10) == string(b)
}
