// Package labelme reads the annotations of LabelMe: a directory with a JSON file for each image.
package labelme

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

const (
	maxFile  = 128 << 20 // bytes: the image may be in it
	maxDepth = 64        // of lists and objects
	memory   = 8         // for each byte of a file: an image with escapes takes the most
)

// Read reads the .json files of a directory, local or in a store, and its subdirectories.
//
// An image has the name of its file, with the extension of its imagePath. Rectangles, also rotated
// ones, polygons, circles and masks are objects, and shapes with the same label and group_id are
// one object; broken shapes and shapes without an area are faults. The image that may be in a file
// is skipped. Classes are sorted by name, as bytes.
func Read(ctx context.Context, dir string, o annotation.Options) (*annotation.Set, error) {
	p := &parser{regions: o.Regions}
	return p.names.Read(ctx, annotation.Format{Name: "labelme", Ext: ".json", Limit: maxFile, Memory: memory, Parse: p.parse}, dir, o)
}

// parser reads files. It may be used concurrently.
type parser struct {
	names   annotation.Names
	regions bool
	masks   sync.Mutex // masks are decoded one at a time, to bound their memory
}

// file is a file that is read.
type file struct {
	*parser
	jsonscan.Cursor
	im        *annotation.Image
	imagePath string
	found     bool // its shapes
	points    []float64
	late      map[int]*parts // of some objects, until the size of the image is known
	unused    annotation.Fields
}

func (p *parser) parse(im *annotation.Image, data []byte) error {
	text, err := annotation.Text(data)
	if err != nil {
		return err
	}
	f := file{parser: p, Cursor: jsonscan.Cursor{Data: text}, im: im, unused: annotation.Fields{}}
	defer func() { f.names.Unused.Merge(f.unused) }()
	switch err := f.members(f.member); {
	case err != nil:
		return fmt.Errorf("it cannot be read: %w", err)
	case f.Peek() != 0 || f.At < len(text):
		return fmt.Errorf("it cannot be read: %w", f.broken(f.Unexpected("nothing after the object")))
	case !f.found:
		return errors.New("it has no shapes: not a LabelMe file")
	}
	if err := f.makeRegions(); err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	if ext := path.Ext(strings.ReplaceAll(f.imagePath, "\\", "/")); len(ext) > 1 {
		im.Name = strings.TrimSuffix(im.Name, path.Ext(im.Name)) + ext
	}
	return nil
}

// broken is the error of a fault in the JSON.
func (f *file) broken(fault string) error {
	return fmt.Errorf("byte %d: %s", f.At, fault)
}

// members calls member at the value of each member of an object, which it reads.
func (f *file) members(member func(name string) error) error {
	if f.Peek() != '{' {
		return f.broken(f.Unexpected("a JSON object"))
	}
	f.At++
	for n := 0; ; n++ {
		more, fault := f.More(n, '}')
		if fault != "" {
			return f.broken(fault)
		}
		if !more {
			return nil
		}
		name, fault := f.Name()
		if fault != "" {
			return f.broken(fault)
		}
		f.Peek()
		if err := member(string(name)); err != nil {
			return err
		}
	}
}

// member reads a member of the file. Members with other types than LabelMe's are skipped.
func (f *file) member(name string) error {
	switch first := f.Peek(); {
	case name == "shapes" && first != 'n': // null is none
		return f.shapes()
	case name == "imagePath" && first == '"':
		text, fault := f.Text()
		if fault != "" {
			return f.broken(fault)
		}
		f.imagePath = string(text)
		return nil
	}
	at := f.At
	if fault := f.Skip(maxDepth); fault != "" {
		return f.broken(fault)
	}
	switch name {
	case "imageWidth":
		f.im.Width = annotation.Side(f.Data[at:f.At])
	case "imageHeight":
		f.im.Height = annotation.Side(f.Data[at:f.At])
	case "flags":
		f.unused.Add([]byte(name), f.Data[at:f.At])
	}
	return nil
}
