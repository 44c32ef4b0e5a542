package preview

import (
	"fmt"
	"image"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/internal/view/preview/sample"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// Marker draws the objects and masks of records on images that are given, for one goroutine at a
// time. A class has the same colour on all of them.
type Marker struct {
	describer sample.Describer
	example   tfrecord.Example
}

// NewMarker returns a Marker for classes that the record of an Example has objects of, the most
// frequent first.
func NewMarker(codec *augment.Codec, record []byte) (*Marker, error) {
	m := &Marker{describer: sample.Describer{Set: new(contents.Set), Thumbnails: sample.Thumbnails{Codec: codec, Gate: sample.NewGate()}}}
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
	m.describer.Classes = contents.NewClasses(list)
	return m, nil
}

// Mark returns a small version of an image of width x height pixels, with what its record draws on
// it, and why some of it is not drawn; "" if nothing is missing. The small version may change.
func (m *Marker) Mark(small *image.NRGBA, width, height int, record []byte) (marked *image.NRGBA, problem string, err error) {
	if err := m.example.Parse(record); err != nil {
		return nil, "", err
	}
	w := m.describer.Draw(&m.example.Features, &sample.ShownImage{
		Width: width, Height: height, ShownWidth: small.Rect.Dx(), ShownHeight: small.Rect.Dy(), Orientation: 1,
	})
	if w == nil {
		return small, "", nil
	}
	if w.Total > sample.MaxDrawn && w.Problem == "" {
		w.Problem = fmt.Sprintf("only the %d largest of %s are drawn", sample.MaxDrawn, plaintext.Count(int64(w.Total), "object"))
	}
	return drawOn(w, small), w.Problem, nil
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
