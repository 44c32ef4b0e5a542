package preview

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"

	"github.com/disintegration/imaging"
	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"

	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/internal/view/preview/sample"
)

// boxLine is the line width of boxes on a contact sheet, in pixels.
const boxLine = 2

// drawOn returns an image of a contact sheet with its masks and boxes. Boxes have names if they are
// large enough and there is room next to the names of smaller ones.
func drawOn(w *sample.Drawing, im *image.NRGBA) *image.NRGBA {
	if w.Masks != nil {
		same := imaging.Resize(w.Masks, im.Rect.Dx(), im.Rect.Dy(), imaging.NearestNeighbor)
		im = imaging.Overlay(im, same, image.Point{}, 1)
	}
	boxes := make([]image.Rectangle, len(w.Boxes))
	for i := range w.Boxes {
		b := &w.Boxes[i]
		at := func(share float64, side int) int { return int(math.Round(share * float64(side))) }
		width, height := im.Rect.Dx(), im.Rect.Dy()
		boxes[i] = image.Rect(at(b.Xmin, width), at(b.Ymin, height), max(at(b.Xmax, width), at(b.Xmin, width)+1), max(at(b.Ymax, height), at(b.Ymin, height)+1))
		frame(im, boxes[i], sample.ColourOf(b.Class))
	}
	var taken []image.Rectangle
	for i, r := range slices.Backward(boxes) {
		taken = name(im, r, taken, sample.ColourOf(w.Boxes[i].Class), w.Boxes[i].Name)
	}
	return im
}

// frame draws the sides of a box, inside of it, and an edge that tells them from an image of their
// colour.
func frame(im *image.NRGBA, r image.Rectangle, colour color.NRGBA) {
	if inner := r.Inset(boxLine); inner.Dx() > 2*boxLine && inner.Dy() > 2*boxLine {
		line(im, inner, 1, image.NewUniform(color.NRGBA{A: 0x80}))
	}
	line(im, r, boxLine, image.NewUniform(colour))
}

// line draws the sides of a box, width pixels wide, inside of it.
func line(im *image.NRGBA, r image.Rectangle, width int, ink image.Image) {
	for _, side := range []image.Rectangle{
		image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+width), image.Rect(r.Min.X, r.Max.Y-width, r.Max.X, r.Max.Y),
		image.Rect(r.Min.X, r.Min.Y+width, r.Min.X+width, r.Max.Y-width), image.Rect(r.Max.X-width, r.Min.Y+width, r.Max.X, r.Max.Y-width),
	} {
		draw.Draw(im, side.Intersect(r), ink, image.Point{}, draw.Over)
	}
}

// name writes the name of a box, as much of it as fits, to the highest line of the box, at its left
// or right side, that is not taken. It returns the rectangles taken then.
func name(im *image.NRGBA, r image.Rectangle, taken []image.Rectangle, colour color.NRGBA, text string) []image.Rectangle {
	letters := []rune(plaintext.Shown(text, plaintext.MaxKeyText))
	letters = letters[:max(0, min(len(letters), (r.Dx()-2*boxLine)/letterWidth))]
	ground, ok := nameplate(r, 2*boxLine+len(letters)*letterWidth, taken)
	if len(letters) == 0 || !ok {
		return taken
	}
	face := inconsolata.Regular8x16
	for i, c := range letters {
		if _, ok := face.GlyphAdvance(c); !ok {
			letters[i] = '?'
		}
	}
	draw.Draw(im, ground, image.NewUniform(colour), image.Point{}, draw.Src)
	d := font.Drawer{Dst: im, Src: image.White, Face: face, Dot: fixed.P(ground.Min.X+boxLine, ground.Min.Y+12)}
	if luminance := 299*int(colour.R) + 587*int(colour.G) + 114*int(colour.B); luminance > 140_000 {
		d.Src = image.Black
	}
	d.DrawString(string(letters))
	return append(taken, ground)
}

// nameplate returns where in a box a name of a width goes. False if all of it is taken.
func nameplate(r image.Rectangle, width int, taken []image.Rectangle) (image.Rectangle, bool) {
	for y := r.Min.Y; y+lineHeight <= r.Max.Y; y += lineHeight {
		for _, x := range []int{r.Min.X, r.Max.X - width} {
			plate := image.Rect(x, y, x+width, y+lineHeight)
			if !slices.ContainsFunc(taken, plate.Overlaps) {
				return plate, true
			}
		}
	}
	return image.Rectangle{}, false
}
