package voc

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unique"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

const (
	maxDepth = 64   // elements in elements
	maxText  = 4096 // bytes of an element that are kept
)

// parser reads a file.
type parser struct {
	im    *annotation.Image
	names *annotation.Names
	// path are the names of the elements that are open, up to depth of them.
	path  [maxDepth]string
	depth int
	text  []byte // of the innermost element
	roots int
	count int // of objects
	// unused counts the elements of objects that records have no place for.
	unused annotation.Fields
	filled bool // the open element of an object has some with a value
	object
}

// object is the state of the open object.
type object struct {
	name  []byte
	o     annotation.Object
	seen  fields
	fault string // the first
}

// fields is a set of elements.
type fields uint16

const (
	fieldName fields = 1 << iota
	fieldXMin
	fieldYMin
	fieldXMax
	fieldYMax
	fieldPose
	fieldTruncated
	fieldDifficult
	fieldBox = fieldXMin | fieldYMin | fieldXMax | fieldYMax
)

func parse(im *annotation.Image, data []byte, names *annotation.Names) error {
	data, err := annotation.TrimMark(data)
	if err != nil {
		return err
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = charset
	p := parser{im: im, names: names, unused: annotation.Fields{}}
	defer func() { names.Unused.Merge(p.unused) }()
	for {
		token, err := d.Token()
		switch {
		case err == io.EOF && p.roots == 0:
			return errors.New("it has no XML element")
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("it cannot be read as XML: %w", err)
		}
		switch t := token.(type) {
		case xml.Directive:
			return errors.New("it has a DOCTYPE, which may define entities: remove it")
		case xml.StartElement:
			err = p.start(t.Name.Local)
		case xml.CharData:
			p.characters(t)
		case xml.EndElement:
			err = p.end()
		}
		if err != nil {
			return err
		}
	}
}

// charset converts the supported encodings other than UTF-8.
func charset(name string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(name) {
	case "us-ascii", "ascii", "utf8":
		return r, nil
	case "iso-8859-1", "latin1":
		b, err := io.ReadAll(r)
		runes := make([]rune, len(b))
		for i, c := range b {
			runes[i] = rune(c)
		}
		return strings.NewReader(string(runes)), err
	}
	return nil, fmt.Errorf("the encoding %s is not supported: save it as UTF-8", jsonscan.Quoted([]byte(name)))
}

func (p *parser) start(name string) error {
	switch {
	case p.depth == maxDepth:
		return fmt.Errorf("elements are nested more than %d deep", maxDepth)
	case p.depth == 0 && p.roots > 0:
		return errors.New("it has a second root element")
	case p.depth == 0 && name != "annotation":
		return fmt.Errorf("it is not an annotation: the root element is <%.40s>", name)
	case p.depth == 0:
		p.roots++
	case p.depth == 1 && name == "object":
		p.count++
		p.object = object{name: p.object.name[:0]}
	}
	p.path[p.depth] = name
	p.depth++
	p.text = p.text[:0]
	return nil
}

func (p *parser) characters(text []byte) {
	p.text = append(p.text, text[:min(len(text), maxText-len(p.text))]...)
}

func (p *parser) end() (err error) {
	text := bytes.TrimSpace(p.text)
	name := p.path[p.depth-1]
	switch {
	case p.depth == 2 && name == "filename":
		p.im.Name = withExt(p.im.Name, string(text))
	case p.depth == 2 && name == "object":
		err = p.endObject()
	case p.depth == 3 && p.path[1] == "size" && name == "width":
		p.im.Width = annotation.Side(text)
	case p.depth == 3 && p.path[1] == "size" && name == "height":
		p.im.Height = annotation.Side(text)
	case p.depth == 3 && p.path[1] == "object":
		p.field(name, text)
	case p.depth > 3 && p.path[1] == "object" && p.path[2] != "bndbox":
		p.filled = p.filled || len(text) > 0 && string(text) != "0"
	case p.depth == 4 && p.path[1] == "object" && p.path[2] == "bndbox":
		p.edge(name, text)
	}
	p.depth--
	p.text = p.text[:0]
	return err
}

// field takes an element of an object. Of pose, truncated and difficult the first counts.
func (p *parser) field(name string, text []byte) {
	switch name {
	case "name":
		if p.first(fieldName, name) {
			p.name = append(p.name, text...)
		}
	case "pose":
		if p.seen&fieldPose == 0 && p.first(fieldPose, name) {
			p.o.View = unique.Make(string(text)).Value()
		}
	case "truncated":
		if p.seen&fieldTruncated == 0 && p.first(fieldTruncated, name) {
			p.o.Truncated = p.flag(name, text)
		}
	case "difficult":
		if p.seen&fieldDifficult == 0 && p.first(fieldDifficult, name) {
			p.o.Difficult = p.flag(name, text)
		}
	case "bndbox":
	default:
		if p.filled {
			text = []byte("...")
		}
		p.unused.Add([]byte(name), text)
	}
	p.filled = false
}

// edge takes an element of an object's bndbox.
func (p *parser) edge(name string, text []byte) {
	var field fields
	var to *float64
	switch name {
	case "xmin":
		field, to = fieldXMin, &p.o.Box.XMin
	case "ymin":
		field, to = fieldYMin, &p.o.Box.YMin
	case "xmax":
		field, to = fieldXMax, &p.o.Box.XMax
	case "ymax":
		field, to = fieldYMax, &p.o.Box.YMax
	default:
		return
	}
	if !p.first(field, name) {
		return
	}
	v, ok := csvscan.ParseFloat64(text)
	if !ok {
		p.fail("its <%s> is %s: want a number", name, jsonscan.Quoted(text))
	}
	*to = v
}

// first notes that the object has an element. It is false, and a fault, if it has one already.
func (p *parser) first(field fields, name string) bool {
	switch {
	case p.seen&field != 0:
		p.fail("it has more than one <%s>", name)
		return false
	case len(p.text) == maxText:
		p.fail("its <%s> has %d bytes or more", name, maxText)
	}
	p.seen |= field
	return true
}

// flag is the value of truncated, which may be a share as in KITTI, and difficult.
func (p *parser) flag(name string, text []byte) int8 {
	switch strings.ToLower(string(text)) {
	case "", "false", "unspecified":
		return 0
	case "true":
		return 1
	}
	v, ok := csvscan.ParseFloat64(text)
	if !ok {
		p.fail("its <%s> is %s: want 0 or 1", name, jsonscan.Quoted(text))
	}
	if v > 0 {
		return 1
	}
	return 0
}

// fail notes why the object cannot be used; the first reason stays.
func (p *parser) fail(format string, args ...any) {
	if p.fault == "" {
		p.fault = fmt.Sprintf(format, args...)
	}
}

// endObject adds the object, or its fault, to the image.
func (p *parser) endObject() error {
	o := &p.o
	o.Name, o.Area = fmt.Sprintf("object %d", p.count), math.NaN()
	switch {
	case p.seen&fieldBox == 0:
		p.fail("it has no <bndbox>")
	case p.seen&fieldBox != fieldBox:
		p.fail("its <bndbox> lacks one of <xmin>, <ymin>, <xmax> and <ymax>")
	}
	if p.fault == "" {
		if err := o.Box.Check(); err != nil {
			p.fail("%v", err)
		} else if o.Class, err = p.names.Index(p.name); err != nil {
			p.fail("%v", err)
		}
	}
	if p.fault != "" {
		return p.im.Refuse(o.Name, 0, p.fault)
	}
	p.im.Objects = append(p.im.Objects, *o)
	return nil
}
