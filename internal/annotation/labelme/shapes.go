package labelme

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

const (
	// maxShapes is the maximum size of the shapes of a file in bytes, without the image.
	maxShapes = 16 << 20
	// minShape is the minimum size of a shape that is an object, in bytes, with a comma.
	minShape = len(`{"label":"a","points":[[0,0],[1,0],[0,1]]},`)
	// circlePoints is the number of points of the polygon for a circle.
	circlePoints = 128
)

// shapes adds the list of shapes to the image.
func (f *file) shapes() error {
	if f.found {
		return errors.New(`"shapes" occurs twice`)
	}
	f.found = true
	if f.Peek() != '[' {
		return f.broken(f.Unexpected("the list of shapes"))
	}
	// A fault in the JSON costs the file, and one in a shape only that: so the list is read twice.
	at, count := f.At, 0
	if err := f.elements(func(int) error {
		count++
		if fault := f.Skip(maxDepth); fault != "" {
			return f.broken(fault)
		}
		return nil
	}); err != nil {
		return err
	}
	if size := f.At - at; size > maxShapes {
		return fmt.Errorf("its shapes have %d bytes: the limit is %d", size, maxShapes)
	}
	f.im.Objects = make([]annotation.Object, 0, min(count, (f.At-at)/minShape))
	f.At = at
	groups := map[group]int{}
	return f.elements(func(n int) error {
		at, name := f.At, fmt.Sprintf("object %d", n+1)
		s, err := f.shape()
		if err != nil {
			f.At = at
			f.Skip(maxDepth)
			return f.im.Refuse(name, 0, err.Error())
		}
		i, known := groups[s.group]
		if !known || s.group.id == "" {
			i = len(f.im.Objects)
			f.im.Objects = append(f.im.Objects, annotation.Object{Name: name, Class: s.group.class, Box: s.box, Area: math.NaN()})
			if s.group.id != "" {
				groups[s.group] = i
			}
		}
		o := &f.im.Objects[i]
		o.Box = o.Box.Union(s.box)
		if f.regions {
			f.addPart(o, i, s)
		} else if s.kind != "rectangle" {
			f.unused.Count(s.kind, 1)
		}
		return nil
	})
}

// group identifies the shapes of one object, as in LabelMe's own programs. Without an id, a shape
// is an object of its own.
type group struct {
	class int32
	id    string // JSON
}

// elements calls element at each element of a list, which it reads.
func (f *file) elements(element func(n int) error) error {
	f.At++
	for n := 0; ; n++ {
		more, fault := f.More(n, ']')
		if fault != "" {
			return f.broken(fault)
		}
		if !more {
			return nil
		}
		f.Peek()
		if err := element(n); err != nil {
			return err
		}
	}
}

// shape is a shape of an object.
type shape struct {
	kind    string
	group   group
	box     annotation.Box
	outline []float64 // of a polygon or a circle
	corners []float64 // of a rectangle
	mask    int       // position of a mask in the file; 0 if it is none
}

// shape reads a shape, whose JSON is whole. After an error the cursor is anywhere in it.
func (f *file) shape() (s shape, err error) {
	if f.Peek() != '{' {
		return s, fmt.Errorf("it is %s: want a JSON object", f.value())
	}
	var label, kind []byte
	mask := 0
	f.points = f.points[:0]
	if err := f.members(func(name string) (err error) {
		switch name {
		case "label":
			label, err = f.text(name)
		case "shape_type":
			kind, err = f.text(name)
		case "points":
			err = f.readPoints()
		case "group_id":
			at := f.At
			if f.Skip(maxDepth); string(f.Data[at:f.At]) != "null" {
				s.group.id = string(f.Data[at:f.At])
			}
		case "mask":
			mask = f.At
			f.Skip(maxDepth)
		default:
			at := f.At
			f.Skip(maxDepth)
			f.unused.Add([]byte(name), f.Data[at:f.At])
		}
		return err
	}); err != nil {
		return s, err
	}
	s.kind = cmp.Or(string(kind), "polygon") // before LabelMe 3.5 all are
	if err := f.extent(&s, f.points, mask); err != nil {
		return s, err
	}
	if err := s.box.Check(); err != nil {
		return s, err
	}
	if len(s.group.id) > annotation.MaxName {
		return s, fmt.Errorf("its group_id has %d bytes: the limit is %d", len(s.group.id), annotation.MaxName)
	}
	s.group.class, err = f.names.Index(bytes.TrimSpace(label))
	return s, err
}

// extent sets the box of a shape and, with regions, its outline.
func (p *parser) extent(s *shape, points []float64, mask int) error {
	switch n := len(points) / 2; s.kind {
	case "rectangle":
		if n != 2 && n != 4 {
			return fmt.Errorf("it is a rectangle with %d points: want two corners", n)
		}
		b := annotation.Extent(points)
		if s.box = b; p.regions && s.group.id != "" {
			s.corners = []float64{b.XMin, b.YMin, b.XMax, b.YMin, b.XMax, b.YMax, b.XMin, b.YMax}
		}
	case "polygon", "rotation", "oriented_rectangle":
		if n < 3 {
			return fmt.Errorf("it is a polygon with %d points: want at least three", n)
		}
		s.box = annotation.Extent(points)
		if p.regions {
			s.outline = slices.Clone(points)
		}
	case "circle":
		if n != 2 {
			return fmt.Errorf("it is a circle with %d points: want its centre and a point on it", n)
		}
		x, y, r := points[0], points[1], math.Hypot(points[2]-points[0], points[3]-points[1])
		s.box = annotation.Box{XMin: x - r, YMin: y - r, XMax: x + r, YMax: y + r}
		if p.regions {
			s.outline = circle(x, y, r)
		}
	case "mask":
		if n != 2 {
			return fmt.Errorf("it is a mask with %d points: want its first and its last pixel", n)
		}
		b := annotation.Extent(points) // of pixels, which are counted
		s.box = annotation.Box{XMin: math.Trunc(b.XMin), YMin: math.Trunc(b.YMin), XMax: math.Trunc(b.XMax) + 1, YMax: math.Trunc(b.YMax) + 1}
		s.mask = cmp.Or(mask, noMask)
	case "point", "points", "line", "linestrip":
		return fmt.Errorf("a %s has no box", s.kind)
	default:
		return fmt.Errorf("it is a shape of the type %s: want rectangle, polygon, circle or mask", jsonscan.Quoted([]byte(s.kind)))
	}
	return nil
}

// text reads a string, which is nil for null.
func (f *file) text(name string) ([]byte, error) {
	switch {
	case f.Word("null"):
		return nil, nil
	case f.Peek() != '"':
		return nil, fmt.Errorf("its %s is %s: want text", name, f.value())
	}
	text, _ := f.Text()
	return bytes.Clone(text), nil // the next one may be read to the same memory
}

// value skips a value, and quotes it for a message.
func (f *file) value() string {
	at := f.At
	f.Skip(maxDepth)
	return jsonscan.Quoted(f.Data[at:f.At])
}

// readPoints reads the list of points of a shape.
func (f *file) readPoints() error {
	if f.Peek() != '[' {
		return fmt.Errorf("its points are %s: want a list", f.value())
	}
	at := f.At
	f.Skip(maxDepth)
	f.points = slices.Grow(f.points[:0], (f.At-at)/len("[0,0],")*2+2)
	f.At = at
	return f.elements(func(n int) error {
		at := f.At
		if x, y, ok := f.point(); ok {
			f.points = append(f.points, x, y)
			return nil
		}
		f.At = at
		return fmt.Errorf("point %d is %s: want two numbers, x and y", n+1, f.value())
	})
}

// point reads a point. Unless that is ok, the cursor is anywhere in it.
func (f *file) point() (x, y float64, ok bool) {
	if f.Peek() != '[' {
		return 0, 0, false
	}
	f.At++
	x, ok = f.number(0)
	if ok {
		y, ok = f.number(1)
	}
	if more, fault := f.More(2, ']'); more || fault != "" {
		return 0, 0, false
	}
	return x, y, ok
}

// number reads element n of a list, which is a number.
func (f *file) number(n int) (float64, bool) {
	if more, fault := f.More(n, ']'); !more || fault != "" {
		return 0, false
	}
	f.Peek()
	text, _, ok := f.Number()
	if !ok {
		return f.NonFinite()
	}
	return csvscan.ParseFloat64(text)
}

// circle returns a polygon that approximates a circle.
func circle(x, y, r float64) []float64 {
	outline := make([]float64, 0, 2*circlePoints)
	for i := range circlePoints {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / circlePoints)
		outline = append(outline, x+r*cos, y+r*sin)
	}
	return outline
}
