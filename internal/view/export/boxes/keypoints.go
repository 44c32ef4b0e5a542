package boxes

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/view/export/input"
)

// keypointScan is the result of the first pass over the records' keypoints.
type keypointScan struct {
	count    int      // of each object; 0 without
	names    []string // nil if no record has them
	labelled map[class]bool
	parsed   objects.Keypoints
}

// class identifies the class of an object before classes are numbered.
type class struct {
	id   int64
	text string
}

func classOf(o *objects.Objects, i int) (c class) {
	if len(o.Labels) > 0 {
		c.id = o.Labels[i]
	} else if len(o.Texts) > 0 {
		c.text = string(o.Texts[i])
	}
	return c
}

// look records the keypoints of a record. It returns an error if they differ in number or names
// from the keypoints of earlier records.
func (s *keypointScan) look(r *input.Row, o *objects.Objects) error {
	k := &s.parsed
	if err := k.Parse(&r.Features, o.Len()); err != nil || k.Count == 0 {
		return err
	}
	if s.count != 0 && s.count != k.Count {
		return fmt.Errorf("objects have %d keypoints, and %d in records before: want one number", k.Count, s.count)
	}
	s.count = k.Count
	for i := range o.Len() {
		if err := s.learn(k.Names(i)); err != nil {
			return err
		}
		if slices.ContainsFunc(k.Visibility[i*k.Count:(i+1)*k.Count], func(v int64) bool { return v != objects.Unlabelled }) {
			if s.labelled == nil {
				s.labelled = map[class]bool{}
			}
			s.labelled[classOf(o, i)] = true
		}
	}
	return nil
}

// learn takes notice of the names of keypoints.
func (s *keypointScan) learn(names [][]byte) error {
	if names == nil {
		return nil
	}
	if s.names == nil {
		for _, name := range names {
			if !utf8.Valid(name) {
				return fmt.Errorf("the name of a keypoint is not UTF-8: %q", name)
			}
			s.names = append(s.names, string(name))
		}
	}
	if !slices.EqualFunc(s.names, names, func(a string, b []byte) bool { return a == string(b) }) {
		return fmt.Errorf("the keypoints are %q here and %q before: want the same names for all objects, or drop %s first", names, s.names, objects.KeyKeypointText)
	}
	return nil
}

// of reports whether the objects of a class have keypoints: if any class has labelled keypoints,
// only the objects of such classes do.
func (s *keypointScan) of(c class) bool {
	return s.count > 0 && (len(s.labelled) == 0 || s.labelled[c])
}

// point is a keypoint in shares of the image as shown; the zero value is not labelled.
type point struct {
	x, y       float32
	visibility int64
}

// appendPoints appends the keypoints of object i as they are on the image as shown. Missing ones
// are not labelled.
func (a *annotated) appendPoints(dst []point, i int, s *keypointScan) []point {
	k := &a.keypoints
	for n := range s.count {
		var p point
		if at := i*k.Count + n; k.Count > 0 && k.Visibility[at] != objects.Unlabelled {
			to := augment.Point{X: float64(clipShare(k.X[at])), Y: float64(clipShare(k.Y[at]))}.Orient(int(a.shown), 1, 1)
			p = point{float32(to.X), float32(to.Y), k.Visibility[at]}
		}
		dst = append(dst, p)
	}
	return dst
}

// parseKeypoints takes the keypoints of a record.
func (a *annotated) parseKeypoints(r *input.Row, s *keypointScan) error {
	if s.count == 0 {
		return nil
	}
	k := &a.keypoints
	if err := k.Parse(&r.Features, a.objects.Len()); err != nil {
		return err
	}
	for n, v := range k.Visibility {
		if err := objects.CheckKeypoint(k.X[n], k.Y[n], v); err != nil {
			return fmt.Errorf("keypoint %d of its object %d is %w; tfrec verify --deep finds all such points", n%k.Count, n/k.Count, err)
		}
	}
	return nil
}

// clipShare returns a share of an image that is not outside it.
func clipShare(v float32) float32 { return min(max(v, 0), 1) }
