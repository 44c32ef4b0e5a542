package coco

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/plural"
)

// points are the keypoints of an annotation.
type points struct {
	list   []annotation.Keypoint // those that are labelled
	count  int                   // of all
	reason string                // why they cannot be used; "" if they can
}

// namedPoints are the keypoints that a category lists.
type namedPoints struct {
	category int64
	annotation.Keypoints
	broken bool // the list cannot be used, which is a fault of the category
}

// keypoints parses the keypoints of an annotation: x, y and visibility in turns. null and an empty
// list are none.
func (p *parser) keypoints(r *row) (fault string) {
	if p.Word("null") {
		return ""
	}
	r.points = new(points)
	if p.Peek() != '[' {
		r.points.reason = "they are not a list of numbers"
		return p.Skip(maxDepth)
	}
	p.At++
	p.numbers = p.numbers[:0]
	n, numbers := 0, true
	for ; ; n++ {
		more, fault := p.More(n, ']')
		if fault != "" {
			return fault
		}
		if !more {
			break
		}
		p.Peek()
		v, ok, fault := p.float()
		if fault != "" {
			return fault
		}
		numbers = numbers && ok
		if n < 3*annotation.MaxKeypoints {
			p.numbers = append(p.numbers, v)
		}
	}
	switch {
	case n == 0:
		r.points = nil
	case !numbers:
		r.points.reason = "they are not a list of numbers"
	case n%3 != 0:
		r.points.reason = fmt.Sprintf("%s: want x, y and visibility of each point", plural.Of(n, "number"))
	case n > 3*annotation.MaxKeypoints:
		r.points.reason = fmt.Sprintf("%d points are too many: want %d at most", n/3, annotation.MaxKeypoints)
	default:
		r.points.read(p.numbers)
	}
	return ""
}

// read takes x, y and visibility in turns.
func (k *points) read(numbers []float64) {
	k.count = len(numbers) / 3
	labelled := 0
	for i := range k.count {
		x, y, v := numbers[3*i], numbers[3*i+1], numbers[3*i+2]
		switch {
		case v != 0 && v != 1 && v != 2:
			k.reason = fmt.Sprintf("point %d has the visibility %g: want 0, 1 or 2", i+1, v)
			return
		case v != 0 && !(finite(x) && finite(y)):
			k.reason = fmt.Sprintf("point %d has a coordinate that is not finite", i+1)
			return
		}
		if v != 0 {
			labelled++
		}
	}
	if labelled == 0 {
		return
	}
	k.list = make([]annotation.Keypoint, 0, labelled)
	for i := range k.count {
		if v := int8(numbers[3*i+2]); v != 0 {
			k.list = append(k.list, annotation.Keypoint{X: numbers[3*i], Y: numbers[3*i+1], Index: int16(i), Visibility: v})
		}
	}
}

// labels reports whether a num_keypoints, as JSON, is the number of labelled points.
func (r *row) labels(stated []byte) bool {
	n := 0
	if r.points != nil {
		n = len(r.points.list)
	}
	v, err := strconv.ParseFloat(string(bytes.TrimSpace(stated)), 64)
	return err == nil && v == float64(n)
}

// names parses the names of the keypoints of a category. The reason is why they cannot be used.
func (p *parser) names() (names []string, reason, fault string) {
	const want = "they are not a list of names"
	if p.Word("null") {
		return nil, "", ""
	}
	if p.Peek() != '[' {
		return nil, want, p.Skip(maxDepth)
	}
	p.At++
	for n := 0; ; n++ {
		more, fault := p.More(n, ']')
		if fault != "" {
			return nil, "", fault
		}
		if !more {
			break
		}
		p.Peek()
		name, why, fault := p.text()
		if fault != "" {
			return nil, "", fault
		}
		if why != "" {
			reason = want
		}
		if n <= annotation.MaxKeypoints {
			names = append(names, name)
		}
	}
	if reason == "" {
		k := annotation.Keypoints{Count: len(names), Names: names}
		if err := k.Check(); err != nil {
			reason = err.Error()
		}
	}
	return names, reason, ""
}

// pointsOf are the keypoints of a category's objects.
type pointsOf struct {
	namedPoints
	places annotation.Places // of the points in the keypoints of the set
}

// joinKeypoints sets the keypoints of the set: the points that categories list, or without any list
// as many as the annotations have. It returns the points of each category with a list.
func joinKeypoints(set *annotation.Set, lists []*parsed) (map[int64]*pointsOf, error) {
	named := map[int64]*pointsOf{}
	for _, l := range lists {
		for _, n := range l.named {
			if other := named[n.category]; other != nil && !slices.Equal(other.Names, n.Names) {
				return nil, fmt.Errorf("two categories with id %d, whose keypoints differ", n.category)
			}
			named[n.category] = &pointsOf{namedPoints: n}
		}
		l.named = nil
	}
	for _, c := range set.Classes { // in an order that does not depend on the file's
		n := named[c.ID]
		if n == nil || n.broken {
			continue
		}
		var err error
		if set.Keypoints, err = set.Keypoints.Union(n.Keypoints); err != nil {
			return nil, fmt.Errorf("the keypoints of all categories together: %w", err)
		}
	}
	for _, n := range named {
		if !n.broken {
			n.places = n.Places(&set.Keypoints)
		}
	}
	if len(named) > 0 {
		return named, nil
	}
	var first *row
	for _, l := range lists {
		for i := range l.rows {
			switch r := &l.rows[i]; {
			case r.lost() || r.points == nil || r.points.reason != "":
			case first == nil:
				first = r
			case r.points.count != first.points.count:
				return nil, fmt.Errorf("%s and %s have different numbers of keypoints, %d and %d, and no category lists names of keypoints, which would tell what each is",
					nameOf(first), nameOf(r), first.points.count, r.points.count)
			}
		}
	}
	if first != nil {
		set.Keypoints.Count = first.points.count
	}
	return named, nil
}

// nameOf returns the name of a row for errors.
func nameOf(r *row) string {
	if _, err := strconv.Atoi(r.name); err == nil {
		return "annotation " + r.name
	}
	return r.name
}

// checkKeypoints sets the reason why the keypoints of a row cannot be used, or maps them to the
// keypoints of the set.
func (r *row) checkKeypoints(set *annotation.Set, named map[int64]*pointsOf) {
	k := r.points
	if k == nil {
		return
	}
	of := named[r.category]
	switch {
	case of != nil && of.broken:
		r.points = nil // the fault is the category's
	case k.reason != "" || len(named) == 0:
	case of == nil && k.list == nil:
		// as without
	case of == nil:
		k.reason = fmt.Sprintf("category %d lists no names of keypoints, and others do", r.category)
	case k.count != of.Count:
		k.reason = fmt.Sprintf("%s: want the %d that category %d lists", plural.Of(k.count, "point"), of.Count, r.category)
	default:
		of.places.Move(k.list)
	}
	if k.reason != "" {
		k.list = nil
	}
}

// outside counts the labelled points that are outside of an image of a stated size, which are not
// kept.
func (r *row) outside(im *annotation.Image) (n int64) {
	if r.points == nil {
		return 0
	}
	w, h := cmp.Or(float64(im.Width), math.Inf(1)), cmp.Or(float64(im.Height), math.Inf(1))
	for _, k := range r.points.list {
		if k.X < 0 || k.Y < 0 || k.X > w || k.Y > h {
			n++
		}
	}
	return n
}
