package yolo

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/tfrec/tfrec/internal/annotation"
)

// pose is the description of keypoints in a data.yaml.
type pose struct {
	annotation.Keypoints
	dims        int   // numbers of a point: 2, or 3 with its visibility
	unusedNames int64 // classes whose lists of names are not used, as they differ
}

func (p *pose) equal(other *pose) bool {
	return p.Count == other.Count && p.dims == other.dims && p.unusedNames == other.unusedNames && slices.Equal(p.Names, other.Names) && slices.Equal(p.Flip, other.Flip)
}

// fields is the number of fields of a line with keypoints.
func (p *pose) fields() int { return boxFields + p.Count*p.dims }

// readPose reads kpt_shape, flip_idx and kpt_names. It returns no keypoints if kpt_shape is
// missing.
func readPose(shape, flip, names *yaml.Node) (p pose, err error) {
	if absent(shape) {
		return p, nil
	}
	numbers, ok := integers(shape)
	switch {
	case !ok || len(numbers) != 2:
		return p, errors.New("kpt_shape is not two numbers: want that of keypoints, and 2 or 3")
	case numbers[0] < 1 || numbers[0] > annotation.MaxKeypoints:
		return p, fmt.Errorf("kpt_shape has %d keypoints: want 1 to %d", numbers[0], annotation.MaxKeypoints)
	case numbers[1] != 2 && numbers[1] != 3:
		return p, fmt.Errorf("kpt_shape has %d numbers for each keypoint: want 2, or 3 with its visibility", numbers[1])
	}
	p.Count, p.dims = numbers[0], numbers[1]
	if !absent(flip) {
		if p.Flip, ok = integers(flip); !ok || !isFlip(p.Flip, p.Count) {
			return p, fmt.Errorf("flip_idx is wrong: want the index of each of the %d keypoints in a mirror image, from 0, so that two flips change nothing", p.Count)
		}
	}
	if p.Names, p.unusedNames, err = pointNames(names, p.Count); err != nil {
		return p, fmt.Errorf("kpt_names: %w", err)
	}
	return p, p.Check()
}

// absent reports whether a member is missing or null.
func absent(n *yaml.Node) bool { return n.Kind == 0 || follow(n).ShortTag() == "!!null" }

// integers returns a list of integers.
func integers(n *yaml.Node) (list []int, ok bool) {
	if n = follow(n); n.Kind != yaml.SequenceNode {
		return nil, false
	}
	for _, text := range scalars(n) {
		v, err := strconv.Atoi(text)
		if err != nil {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

// isFlip reports whether a list has for each of count points an index, which points back.
func isFlip(flip []int, count int) bool {
	if len(flip) != count {
		return false
	}
	for i, k := range flip {
		if k < 0 || k >= count || flip[k] != i {
			return false
		}
	}
	return true
}

// pointNames returns the names of the points: the names in a list, or in the lists of all classes,
// in a map or in a list, if these are equal. Otherwise it returns the number of classes with a
// list.
func pointNames(n *yaml.Node, count int) (names []string, unused int64, err error) {
	if absent(n) {
		return nil, 0, nil
	}
	n = follow(n)
	lists := []*yaml.Node{n}
	switch {
	case n.Kind == yaml.MappingNode:
		lists = nil
		for i := 1; i < len(n.Content); i += 2 {
			lists = append(lists, n.Content[i])
		}
	case len(n.Content) > 0 && follow(n.Content[0]).Kind == yaml.SequenceNode:
		lists = n.Content
	}
	differ := false
	for i, list := range lists {
		if list = follow(list); list.Kind != yaml.SequenceNode {
			return nil, 0, errors.New("want a list of names, or one for each class")
		}
		one := scalars(list)
		if len(one) != count {
			return nil, 0, fmt.Errorf("%d names for the %d keypoints of kpt_shape", len(one), count)
		}
		differ = differ || i > 0 && !slices.Equal(one, names)
		names = one
	}
	if differ {
		return nil, int64(len(lists)), nil
	}
	return names, 0, nil
}

// point returns point i of a line.
func (p *pose) point(numbers []float64, i int) (x, y, visibility float64) {
	x, y, visibility = numbers[i*p.dims], numbers[i*p.dims+1], 2.0
	if p.dims == 3 {
		visibility = numbers[i*p.dims+2]
	} else if x < 0 || y < 0 || x == 0 && y == 0 {
		visibility = 0
	}
	return x, y, visibility
}

// read takes the labelled points of a line, in shares of the image, and counts those outside of it.
func (p *pose) read(numbers []float64) (list []annotation.Keypoint, outside int64, err error) {
	labelled := 0
	for i := range p.Count {
		x, y, v := p.point(numbers, i)
		switch {
		case v != 0 && v != 1 && v != 2:
			return nil, 0, fmt.Errorf("point %d has the visibility %g: want 0, 1 or 2", i+1, v)
		case v == 0:
			continue
		case math.Min(x, y) < -slack || math.Max(x, y) > 1+slack:
			return nil, 0, fmt.Errorf("point %d is at %g, %g: want shares of the image, from 0 to 1", i+1, x, y)
		case math.Min(x, y) < 0 || math.Max(x, y) > 1:
			outside++
		}
		labelled++
	}
	if labelled == 0 {
		return nil, 0, nil
	}
	list = make([]annotation.Keypoint, 0, labelled)
	for i := range p.Count {
		if x, y, v := p.point(numbers, i); v != 0 {
			list = append(list, annotation.Keypoint{X: x, Y: y, Index: int16(i), Visibility: int8(v)})
		}
	}
	return list, outside, nil
}
