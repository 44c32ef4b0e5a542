// Package kitti reads KITTI's labels of objects: a directory with a .txt file for each image, an
// object a line.
package kitti

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

const (
	maxFile = 16 << 20
	memory  = 2 // for each byte of a file
)

// Fields of a line; a score may follow them.
const (
	fieldType = iota
	fieldTruncated
	fieldOccluded
	fieldAlpha
	fieldXMin
	fieldYMin
	fieldXMax
	fieldYMax
	fieldHeight // of the box in 3D, in metres, as all below but the angle
	fieldWidth
	fieldLength
	fieldX
	fieldY
	fieldZ
	fieldRotation
	fields
)

// unkept are the fields that records have no place for, and how they are written where the object has
// none, as in labels of boxes alone.
var unkept = []struct {
	name        string
	first, last int
	none        float64
}{
	{"occluded", fieldOccluded, fieldOccluded, -1}, {"alpha", fieldAlpha, fieldAlpha, -10},
	{"dimensions", fieldHeight, fieldLength, -1}, {"location", fieldX, fieldZ, -1000},
	{"rotation_y", fieldRotation, fieldRotation, -10}, {"score", fields, fields, 0},
}

// Read reads the .txt files of a directory, local or in a store, and of those below it; only those
// in directories named label_2, if there are any.
//
// An object is truncated if the share that is outside of the image, from 0 to 1, is above 0. Lines of
// the type DontCare are left out; others that cannot be used are faults. Classes are sorted by name,
// as bytes.
func Read(ctx context.Context, dir string, o annotation.Options) (*annotation.Set, error) {
	var names annotation.Names
	return names.Read(ctx, annotation.Format{Name: "kitti", Ext: ".txt", Limit: maxFile, Memory: memory, Parse: func(im *annotation.Image, data []byte) error {
		return parse(im, data, &names)
	}}, dir, o)
}

func parse(im *annotation.Image, data []byte, names *annotation.Names) error {
	text, err := annotation.Text(data)
	if err != nil {
		return err
	}
	unused := annotation.Fields{}
	im.Objects = make([]annotation.Object, 0, min(bytes.Count(text, []byte("\n"))+1, (len(text)+1)/(2*fields)))
	for n, line := range annotation.Lines(text) {
		part, count := split(line)
		var err error
		if string(part[fieldType]) == "DontCare" {
			continue
		}
		name := fmt.Sprintf("line %d", n)
		if count != fields && count != fields+1 {
			err = fmt.Errorf("it has %d fields: want %d, or %d with a score", count, fields, fields+1)
		} else {
			err = add(im, name, &part, names)
			account(unused, &part)
		}
		if err != nil {
			if err := im.Refuse(name, n, err.Error()); err != nil {
				return err
			}
		}
	}
	names.Unused.Merge(unused)
	return nil
}

// account counts the fields of a line that are not kept. A share of truncation is kept as whether it
// is above 0.
func account(unused annotation.Fields, part *[fields + 1][]byte) {
	for _, f := range unkept {
		for _, text := range part[f.first : f.last+1] {
			if v, ok := csvscan.ParseFloat64(text); ok && v != 0 && v != f.none {
				unused.Add([]byte(f.name), text)
				break
			}
		}
	}
	if v, ok := csvscan.ParseFloat64(part[fieldTruncated]); ok && v > 0 && v < 1 {
		unused.Add([]byte("truncated as a share"), part[fieldTruncated])
	}
}

// split returns the fields of a line, and how many it has.
func split(line []byte) (part [fields + 1][]byte, count int) {
	for field := range bytes.FieldsSeq(line) {
		if count < len(part) {
			part[count] = field
		}
		count++
	}
	return part, count
}

// add adds the object of a line to an image.
func add(im *annotation.Image, name string, part *[fields + 1][]byte, names *annotation.Names) (err error) {
	number := func(i int) float64 {
		v, ok := csvscan.ParseFloat64(part[i])
		if !ok && err == nil {
			err = fmt.Errorf("field %d is %s: want a number", i+1, jsonscan.Quoted(part[i]))
		}
		return v
	}
	o := annotation.Object{Name: name, Area: math.NaN()}
	if number(fieldTruncated) > 0 {
		o.Truncated = 1
	}
	o.Box = annotation.Box{XMin: number(fieldXMin), YMin: number(fieldYMin), XMax: number(fieldXMax), YMax: number(fieldYMax)}
	if err == nil {
		err = o.Box.Check()
	}
	if err == nil {
		o.Class, err = names.Index(part[fieldType])
	}
	if err == nil {
		im.Objects = append(im.Objects, o)
	}
	return err
}
