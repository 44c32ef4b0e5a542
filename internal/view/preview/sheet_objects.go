package preview

import (
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/internal/view/preview/sample"
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

// objectsOf returns the drawing over an image in at most budget bytes of HTML, the largest boxes
// first, and its size in bytes; nil if there is nothing to draw.
func objectsOf(w *sample.Drawing, im *sample.ShownImage, budget int) (*objectsView, int) {
	if w == nil || len(w.Boxes) == 0 && w.Uri == "" {
		return nil, 0
	}
	scale := drawnUnits / float64(max(im.ShownWidth, im.ShownHeight))
	v := &objectsView{W: int(math.Round(scale * float64(im.ShownWidth))), H: int(math.Round(scale * float64(im.ShownHeight))), Masks: template.URL(w.Uri)}
	used := 0
	groups := map[string]int{}
	paths := []*strings.Builder{}
	for i := range w.Boxes {
		b := &w.Boxes[i]
		label := plaintext.Shown(b.Name, 40)
		used += boxHTML + len(label)
		g, known := groups[b.Name]
		if !known {
			used += groupHTML
			g = len(paths)
		}
		if used > budget {
			break
		}
		if !known {
			groups[b.Name] = g
			v.Groups = append(v.Groups, classView{Colour: sample.HexColour(sample.ColourOf(b.Class))})
			paths = append(paths, new(strings.Builder))
		}
		at := func(share float64, side int) int { return int(math.Round(share * float64(side))) }
		x, y := at(b.Xmin, v.W), at(b.Ymin, v.H)
		width, height := strconv.Itoa(max(1, at(b.Xmax, v.W)-x)), strconv.Itoa(max(1, at(b.Ymax, v.H)-y))
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
const maxLegend = len(sample.Palette)

// classColour is a class of objects in the legend.
type classColour struct{ Name, Colour string }

// legend returns the classes of objects with their colours, and how many more there are.
func legend(c *contents.Classes) (list []classColour, more string) {
	for i, name := range c.Names[:min(len(c.Names), maxLegend)] {
		list = append(list, classColour{plaintext.Shown(name, plaintext.MaxKeyText), sample.HexColour(sample.ColourOf(i))})
	}
	if n := len(c.Names) - len(list); n > 0 {
		more = "and " + plaintext.Count(int64(n), "more class") + ", whose colours repeat"
	}
	return list, more
}
