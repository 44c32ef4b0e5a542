package labelme

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/csvscan"
	"github.com/tfrec/tfrec/internal/jsonscan"
)

const (
	// maxShapes is how many bytes the shapes of a file may have, without the image.
	maxShapes = 16 << 20
	// minShape is how many bytes a shape has at least that is an object, with a comma.
	minShape = len(`{"label":"a","points":[[0,0],[1,0],[0,1]]},`)
	// circlePoints are those of the polygon that stands for a circle.
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
	return f.elements(func(n int) error {
		at, name := f.At, fmt.Sprintf("object %d", n+1)
		o, err := f.object()
		if err != nil {
			f.At = at
			f.Skip(maxDepth)
			return f.im.Refuse(name, 0, err.Error())
		}
		o.Name = name
		f.im.Objects = append(f.im.Objects, o)
		return nil
	})
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

// object reads a shape, whose JSON is whole. After an error the cursor is anywhere in it.
func (f *file) object() (o annotation.Object, err error) {
	if f.Peek() != '{' {
		return o, fmt.Errorf("it is %s: want a JSON object", f.value())
	}
	var label, kind []byte
	f.points = f.points[:0]
	if err := f.members(func(name string) (err error) {
		switch name {
		case "label":
			label, err = f.text(name)
		case "shape_type":
			kind, err = f.text(name)
		case "points":
			err = f.readPoints()
		default:
			f.Skip(maxDepth)
		}
		return err
	}); err != nil {
		return o, err
	}
	points, outline, err := f.extent(string(kind), f.points)
	if err != nil {
		return o, err
	}
	o.Box, o.Area = annotation.Extent(points), math.NaN()
	if err := o.Box.Check(); err != nil {
		return o, err
	}
	if o.Class, err = f.names.Index(bytes.TrimSpace(label)); err == nil && outline != nil {
		o.Region = &annotation.Region{Polygons: [][]float64{outline}}
	}
	return o, err
}

// extent returns points with the extent of a shape, and its outline: nil if that is its box, and
// without regions.
func (p *parser) extent(kind string, points []float64) (corners, outline []float64, err error) {
	switch n := len(points) / 2; kind {
	case "rectangle":
		if n != 2 && n != 4 {
			return nil, nil, fmt.Errorf("it is a rectangle with %d points: want two corners", n)
		}
		return points, nil, nil
	case "polygon", "rotation", "oriented_rectangle", "": // before LabelMe 3.5 all are polygons
		if n < 3 {
			return nil, nil, fmt.Errorf("it is a polygon with %d points: want at least three", n)
		}
		if p.regions {
			outline = slices.Clone(points)
		}
		return points, outline, nil
	case "circle":
		if n != 2 {
			return nil, nil, fmt.Errorf("it is a circle with %d points: want its centre and a point on it", n)
		}
		x, y, r := points[0], points[1], math.Hypot(points[2]-points[0], points[3]-points[1])
		if p.regions {
			outline = circle(x, y, r)
		}
		return []float64{x - r, y - r, x + r, y + r}, outline, nil
	case "point", "points", "line", "linestrip":
		return nil, nil, fmt.Errorf("a %s has no box", kind)
	}
	return nil, nil, fmt.Errorf("it is a shape of the type %s: want rectangle, polygon or circle", jsonscan.Quoted([]byte(kind)))
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

// circle returns the polygon that stands for a circle.
func circle(x, y, r float64) []float64 {
	outline := make([]float64, 0, 2*circlePoints)
	for i := range circlePoints {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / circlePoints)
		outline = append(outline, x+r*cos, y+r*sin)
	}
	return outline
}
