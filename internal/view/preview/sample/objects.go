package sample

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	exif "github.com/tfrec/tfrec/internal/codec/orientation"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/tfrecord"
)

// Drawing is the boxes and masks to draw over a record's image.
type Drawing struct {
	// boxes are the boxes to draw, the largest first; total is the number of objects.
	Boxes []drawnBox
	Total int
	// masks has a colour of maskColours for each pixel; nil if there are none.
	Masks *image.Paletted
	Uri   string // of masks, for the page
	// summary counts the objects by class, and classes are the numbers of their classes.
	Summary string
	Classes []int
	// problem is why some of it is not drawn; "" if nothing is missing.
	Problem string
}

// Empty reports whether it is known that a record has no objects.
func (w *Drawing) Empty() bool { return w == nil || w.Total == 0 && w.Problem == "" }

// drawnBox is a box of the upright image, in shares of its width and height.
type drawnBox struct {
	Xmin, Ymin, Xmax, Ymax float64
	Name                   string
	Class                  int // its number, for the colour
}

func (b *drawnBox) area() float64 { return (b.Xmax - b.Xmin) * (b.Ymax - b.Ymin) }

// MaxDrawn bounds the objects of a record to draw.
const MaxDrawn = 200

// maxObjects bounds the objects that a record may have for any to be drawn.
const maxObjects = 100_000

// Draw returns the drawing for a record's image; nil if there is none.
func (d *Describer) Draw(features *tfrecord.Features, im *ShownImage) *Drawing {
	w := &Drawing{}
	var masks [][]byte
	if objects.Present(features) {
		n, err := objects.Check(features)
		switch {
		case err != nil:
			w.Problem = "objects are not drawn: " + err.Error()
		case n > maxObjects:
			w.Total, w.Summary = n, plaintext.Count(int64(n), "object")
			w.Problem = fmt.Sprintf("more than %s are not drawn", plaintext.Grouped(maxObjects))
		default:
			_ = d.objects.Parse(features) // cannot fail: they were checked
			d.addBoxes(w, im.Orientation)
			masks = d.objects.Masks
		}
	}
	if err := d.addMasks(w, masks, features, im); err != nil {
		w.Problem = strings.TrimPrefix(w.Problem+"; ", "; ") + "masks are not drawn: " + err.Error()
	}
	if w.Total == 0 && w.Masks == nil && w.Problem == "" {
		return nil
	}
	return w
}

// addBoxes adds the boxes of the parsed objects, and counts them by class.
func (d *Describer) addBoxes(w *Drawing, orientation int) {
	o := &d.objects
	w.Total = o.Len()
	counts := map[string]int{}
	for i, box := range o.Boxes {
		b := drawnBox{Name: d.nameOf(i)}
		b.Class = d.Classes.At[b.Name]
		counts[b.Name]++
		if b.place(box, orientation) {
			w.Boxes = append(w.Boxes, b)
		}
	}
	slices.SortStableFunc(w.Boxes, func(a, b drawnBox) int { return cmp.Compare(b.area(), a.area()) })
	w.Boxes = w.Boxes[:min(len(w.Boxes), MaxDrawn)]
	w.Summary = summaryOf(counts, w.Total)
	for name := range counts {
		if at, known := d.Classes.At[name]; known {
			w.Classes = append(w.Classes, at)
		}
	}
}

// nameOf returns the name of the class of object i.
func (d *Describer) nameOf(i int) string {
	o := &d.objects
	switch {
	case len(o.Labels) > 0:
		if name := d.Classes.Ids[o.Labels[i]]; name != "" {
			return name
		}
		return strconv.FormatInt(o.Labels[i], 10)
	case len(o.Texts) > 0:
		return string(o.Texts[i][:min(len(o.Texts[i]), plaintext.MaxValueText)])
	}
	return ""
}

// summaryOf lists the classes with the most objects: "3 objects: cat 2, dog".
func summaryOf(counts map[string]int, total int) string {
	text := plaintext.Count(int64(total), "object")
	names := make([]string, 0, len(counts))
	for name := range counts {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
	var says []string
	for _, name := range names[:min(len(names), plaintext.MaxCounts)] {
		if counts[name] > 1 {
			name += " " + strconv.Itoa(counts[name])
		}
		says = append(says, name)
	}
	if len(says) > 0 {
		text += ": " + plaintext.AndMore(says, len(names))
	}
	return text
}

// place clips a box to the image and turns it upright. False of a box that is not finite or empty.
func (b *drawnBox) place(box [4]float32, orientation int) bool {
	var x [4]float64
	for i, side := range box {
		x[i] = max(0, min(1, float64(side)))
		if math.IsNaN(x[i]) {
			return false
		}
	}
	if x[0] >= x[2] || x[1] >= x[3] {
		return false
	}
	up := augment.Box{XMin: x[0], YMin: x[1], XMax: x[2], YMax: x[3]}.Orient(orientation, 1, 1)
	b.Xmin, b.Xmax, b.Ymin, b.Ymax = up.XMin, up.XMax, up.YMin, up.YMax
	return true
}

// turnBack returns where a point of the upright image is in the stored one. Both are in shares of
// width and height.
func turnBack(orientation int, x, y float64) (float64, float64) {
	p := augment.Point{X: x, Y: y}.Orient(exif.Inverse(orientation), 1, 1)
	return p.X, p.Y
}
