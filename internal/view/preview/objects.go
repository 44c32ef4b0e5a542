package preview

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
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// classes are the classes of objects, numbered from the most frequent.
type classes struct {
	names []string         // by number
	at    map[string]int   // numbers by name
	ids   map[int64]string // names by id
}

func newClasses(o *stats.Objects) classes {
	c := classes{at: map[string]int{}, ids: map[int64]string{}}
	if o == nil {
		return c
	}
	list := slices.Clone(o.Classes)
	slices.SortStableFunc(list, func(a, b stats.ObjectClass) int { return cmp.Compare(b.Objects, a.Objects) })
	for _, class := range list {
		name := className(class)
		if class.ID != nil {
			c.ids[*class.ID] = name
		}
		if _, known := c.at[name]; !known {
			c.at[name] = len(c.names)
			c.names = append(c.names, name)
		}
	}
	return c
}

func className(c stats.ObjectClass) string {
	if c.Name == "" && c.ID != nil {
		return strconv.FormatInt(*c.ID, 10)
	}
	return c.Name
}

// drawing is the boxes and masks to draw over a record's image.
type drawing struct {
	// boxes are the boxes to draw, the largest first; total is the number of objects.
	boxes []drawnBox
	total int
	// masks has a colour of maskColours for each pixel; nil if there are none.
	masks *image.Paletted
	uri   string // of masks, for the page
	// summary counts the objects by class, and classes are the numbers of their classes.
	summary string
	classes []int
	// problem is why some of it is not drawn; "" if nothing is missing.
	problem string
}

// drawnBox is a box of the upright image, in shares of its width and height.
type drawnBox struct {
	xmin, ymin, xmax, ymax float64
	name                   string
	class                  int // its number, for the colour
}

func (b *drawnBox) area() float64 { return (b.xmax - b.xmin) * (b.ymax - b.ymin) }

// maxDrawn bounds the objects of a record to draw.
const maxDrawn = 200

// maxObjects bounds the objects that a record may have for any to be drawn.
const maxObjects = 100_000

// draw returns the drawing for a record's image; nil if there is none.
func (d *describer) draw(features *tfrecord.Features, im *shownImage) *drawing {
	w := &drawing{}
	var masks [][]byte
	if objects.Present(features) {
		n, err := objects.Check(features)
		switch {
		case err != nil:
			w.problem = "objects are not drawn: " + err.Error()
		case n > maxObjects:
			w.total, w.summary = n, count(int64(n), "object")
			w.problem = fmt.Sprintf("more than %s are not drawn", grouped(maxObjects))
		default:
			_ = d.objects.Parse(features) // cannot fail: they were checked
			d.addBoxes(w, im.orientation)
			masks = d.objects.Masks
		}
	}
	if err := d.addMasks(w, masks, features, im); err != nil {
		w.problem = strings.TrimPrefix(w.problem+"; ", "; ") + "masks are not drawn: " + err.Error()
	}
	if w.total == 0 && w.masks == nil && w.problem == "" {
		return nil
	}
	return w
}

// addBoxes adds the boxes of the parsed objects, and counts them by class.
func (d *describer) addBoxes(w *drawing, orientation int) {
	o := &d.objects
	w.total = o.Len()
	counts := map[string]int{}
	for i, box := range o.Boxes {
		b := drawnBox{name: d.nameOf(i)}
		b.class = d.classes.at[b.name]
		counts[b.name]++
		if b.place(box, orientation) {
			w.boxes = append(w.boxes, b)
		}
	}
	slices.SortStableFunc(w.boxes, func(a, b drawnBox) int { return cmp.Compare(b.area(), a.area()) })
	w.boxes = w.boxes[:min(len(w.boxes), maxDrawn)]
	w.summary = summaryOf(counts, w.total)
	for name := range counts {
		if at, known := d.classes.at[name]; known {
			w.classes = append(w.classes, at)
		}
	}
}

// nameOf returns the name of the class of object i.
func (d *describer) nameOf(i int) string {
	o := &d.objects
	switch {
	case len(o.Labels) > 0:
		if name := d.classes.ids[o.Labels[i]]; name != "" {
			return name
		}
		return strconv.FormatInt(o.Labels[i], 10)
	case len(o.Texts) > 0:
		return string(o.Texts[i][:min(len(o.Texts[i]), maxValueText)])
	}
	return ""
}

// summaryOf lists the classes with the most objects: "3 objects: cat 2, dog".
func summaryOf(counts map[string]int, total int) string {
	text := count(int64(total), "object")
	names := make([]string, 0, len(counts))
	for name := range counts {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
	var says []string
	for _, name := range names[:min(len(names), maxCounts)] {
		if counts[name] > 1 {
			name += " " + strconv.Itoa(counts[name])
		}
		says = append(says, name)
	}
	if len(says) > 0 {
		text += ": " + andMore(says, len(names))
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
	b.xmin, b.xmax, b.ymin, b.ymax = up.XMin, up.XMax, up.YMin, up.YMax
	return true
}

// turnBack returns where a point of the upright image is in the stored one. Both are in shares of
// width and height.
func turnBack(orientation int, x, y float64) (float64, float64) {
	p := augment.Point{X: x, Y: y}.Orient(exif.Inverse(orientation), 1, 1)
	return p.X, p.Y
}
