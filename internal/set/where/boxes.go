package where

import (
	"slices"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/tfrecord"
)

// boxesName is the list of a record's boxes. A feature of that name has it instead.
const boxesName = "boxes"

// box is an element of the list. Lengths are shares of the image's width and height.
type box struct {
	XMin      float64 `expr:"xmin"`
	YMin      float64 `expr:"ymin"`
	XMax      float64 `expr:"xmax"`
	YMax      float64 `expr:"ymax"`
	Width     float64 `expr:"width"`
	Height    float64 `expr:"height"`
	Area      float64 `expr:"area"` // of the box, as a share of the image
	Label     int64   `expr:"label"`
	Text      string  `expr:"text"`
	Difficult bool    `expr:"difficult"`
	Truncated bool    `expr:"truncated"`
	Crowd     bool    `expr:"crowd"`
}

// boxType is expr's name for the type.
const boxType = "where.box"

// boxFields describes them in errors.
const boxFields = "a box has the floats xmin, ymin, xmax, ymax, width, height and area, as shares of the image, " +
	"the int label, the string text, and difficult, truncated and crowd, which are true or false"

// haveBoxes reports whether records may have boxes.
func haveBoxes(features []Feature) bool {
	for _, key := range []string{objects.KeyXMin, objects.KeyYMin, objects.KeyXMax, objects.KeyYMax} {
		if !slices.ContainsFunc(features, func(f Feature) bool { return f.Key == key }) {
			return false
		}
	}
	return true
}

// boxList is the boxes of a record, made when an expression comes to them.
type boxList struct {
	label, text bool // fields that the expression uses
	source      *tfrecord.Features
	made        bool
	objects     objects.Objects
	list        []box
}

// reset replaces the boxes by another record's.
func (b *boxList) reset(source *tfrecord.Features) { b.source, b.made = source, false }

// boxValues is the function that the name boxes becomes.
func boxValues(args ...any) (any, error) {
	r := args[0].(*record)
	b := &r.boxes
	if b.made {
		return b.list, nil
	}
	o := &b.objects
	if err := o.Parse(b.source); err != nil {
		return nil, err
	}
	switch {
	case o.Len() == 0:
	case b.label && len(o.Labels) == 0:
		return nil, missing(objects.KeyLabel)
	case b.text && len(o.Texts) == 0:
		return nil, missing(objects.KeyText)
	}
	b.list = make([]box, o.Len()) // the last one may be part of a result
	for i, sides := range o.Boxes {
		x := &b.list[i]
		x.XMin, x.YMin, x.XMax, x.YMax = float64(sides[0]), float64(sides[1]), float64(sides[2]), float64(sides[3])
		x.Width, x.Height = x.XMax-x.XMin, x.YMax-x.YMin
		x.Area = x.Width * x.Height
		x.Difficult, x.Truncated, x.Crowd = at(o.Difficult, i), at(o.Truncated, i), at(o.Crowd, i)
		if len(o.Labels) > 0 {
			x.Label = o.Labels[i]
		}
		if len(o.Texts) > 0 {
			x.Text = string(o.Texts[i])
		}
	}
	bytes := 0
	for _, text := range o.Texts {
		bytes += len(text)
	}
	r.budget.grow(len(b.list), bytes)
	b.made = true
	return b.list, nil
}

// at reports whether a list has a value that is not 0.
func at(list []int64, i int) bool { return i < len(list) && list[i] != 0 }
