package preview

import (
	"fmt"
	"image"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// Marker draws the objects and masks of records on images that are given, for one goroutine at a
// time. A class has the same colour on all of them.
type Marker struct {
	describer describer
	example   tfrecord.Example
}

// NewMarker returns a Marker for classes that the record of an Example has objects of, the most
// frequent first.
func NewMarker(codec *augment.Codec, record []byte) (*Marker, error) {
	m := &Marker{describer: describer{contents: new(contents), thumbnails: thumbnails{codec: codec, gate: newGate()}}}
	if err := m.example.Parse(record); err != nil {
		return nil, err
	}
	var o objects.Objects
	if err := o.Parse(&m.example.Features); err != nil {
		return nil, err
	}
	list := new(stats.Objects)
	at := map[int64]int{}
	for i, id := range o.Labels {
		k, known := at[id]
		if !known {
			k = len(list.Classes)
			at[id] = k
			list.Classes = append(list.Classes, stats.ObjectClass{ID: &id})
			if i < len(o.Texts) {
				list.Classes[k].Name = string(o.Texts[i])
			}
		}
		list.Classes[k].Objects++
	}
	m.describer.classes = newClasses(list)
	return m, nil
}

// Mark returns a small version of an image of width x height pixels, with what its record draws on
// it, and why some of it is not drawn; "" if nothing is missing. The small version may change.
func (m *Marker) Mark(small *image.NRGBA, width, height int, record []byte) (marked *image.NRGBA, problem string, err error) {
	if err := m.example.Parse(record); err != nil {
		return nil, "", err
	}
	w := m.describer.draw(&m.example.Features, &shownImage{
		width: width, height: height, shownWidth: small.Rect.Dx(), shownHeight: small.Rect.Dy(), orientation: 1,
	})
	if w == nil {
		return small, "", nil
	}
	if w.total > maxDrawn && w.problem == "" {
		w.problem = fmt.Sprintf("only the %d largest of %s are drawn", maxDrawn, count(int64(w.total), "object"))
	}
	return w.on(small), w.problem, nil
}

// CaptionHeight is the height of a caption and of the gap above it, in pixels.
const CaptionHeight = 4 + lineHeight

// Caption writes the first of some lines that fits beneath a square of a sheet; none if all are too
// long.
func Caption(sheet *image.RGBA, square image.Rectangle, lines ...string) {
	for _, line := range lines {
		if len(line)*letterWidth <= square.Dx() {
			write(sheet, image.Pt(square.Min.X, square.Max.Y+4), square.Dx(), ink, line)
			return
		}
	}
}
