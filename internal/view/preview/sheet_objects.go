package preview

import (
	"html/template"
	"math"
	"strconv"
	"strings"
)

// objectsView is the drawing over an image, in units of a thousandth of its longer side.
type objectsView struct {
	W, H   int
	Masks  template.URL
	Groups []classView
}

// classView are the boxes of a class: one shape, and a name for each box.
type classView struct {
	Colour, Path string
	Labels       []boxLabel
}

// boxLabel is the name of a box, and where it is written.
type boxLabel struct {
	X, Y int
	Name string
}

// drawnUnits is the longer side of a drawing, and labelSize the height of its letters.
const (
	drawnUnits = 1000
	labelSize  = 30
)

// Sizes of a box in HTML, in bytes, without its name.
const (
	boxHTML   = 90
	groupHTML = 60
)

// objects returns the drawing over an image in at most budget bytes of HTML, the largest boxes
// first, and its size in bytes; nil if there is nothing to draw.
func (w *drawing) objects(im *shownImage, budget int) (*objectsView, int) {
	if w == nil || len(w.boxes) == 0 && w.uri == "" {
		return nil, 0
	}
	scale := drawnUnits / float64(max(im.shownWidth, im.shownHeight))
	v := &objectsView{W: int(math.Round(scale * float64(im.shownWidth))), H: int(math.Round(scale * float64(im.shownHeight))), Masks: template.URL(w.uri)}
	used := 0
	groups := map[string]int{}
	paths := []*strings.Builder{}
	for i := range w.boxes {
		b := &w.boxes[i]
		label := shown(b.name, 40)
		used += boxHTML + len(label)
		g, known := groups[b.name]
		if !known {
			used += groupHTML
			g = len(paths)
		}
		if used > budget {
			break
		}
		if !known {
			groups[b.name] = g
			v.Groups = append(v.Groups, classView{Colour: hexColour(colourOf(b.class))})
			paths = append(paths, new(strings.Builder))
		}
		at := func(share float64, side int) int { return int(math.Round(share * float64(side))) }
		x, y := at(b.xmin, v.W), at(b.ymin, v.H)
		width, height := strconv.Itoa(max(1, at(b.xmax, v.W)-x)), strconv.Itoa(max(1, at(b.ymax, v.H)-y))
		paths[g].WriteString("M" + strconv.Itoa(x) + " " + strconv.Itoa(y) + "h" + width + "v" + height + "h-" + width + "z")
		v.Groups[g].Labels = append(v.Groups[g].Labels, boxLabel{X: x + labelSize/6, Y: y + labelSize, Name: label})
	}
	for g, path := range paths {
		v.Groups[g].Path = path.String()
	}
	return v, used
}

// maxLegend bounds the classes in the legend of colours. Further classes share the colours of
// others.
const maxLegend = len(palette)

// classColour is a class of objects in the legend.
type classColour struct{ Name, Colour string }

// legend returns the classes of objects with their colours, and how many more there are.
func (c *classes) legend() (list []classColour, more string) {
	for i, name := range c.names[:min(len(c.names), maxLegend)] {
		list = append(list, classColour{shown(name, maxKeyText), hexColour(colourOf(i))})
	}
	if n := len(c.names) - len(list); n > 0 {
		more = "and " + count(int64(n), "more class") + ", whose colours repeat"
	}
	return list, more
}
