package sample

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/objects"
	"github.com/tfrec/tfrec/tfrecord"
)

// recordMaker puts what was made of a sample into its record.
type recordMaker struct{ *Set }

// recordBuilder makes the Examples of images, with memory that is reused for the next one.
type recordBuilder struct {
	Builder tfrecord.Builder
	row     tfrecord.Example // the features of a row
	ids     []int64
	weights []float32
	texts   []string
	synsets []string
	objects objectLists
	around  []byte // the Example without the image
}

// frame adds the record of a stored image to the piece.
func (s *recordMaker) frame(m *Work, p *plan.Piece) {
	r, image := &m.Record, m.out.data
	around, at := r.Builder.AppendAround(r.around[:0], s.Options.Key(imagekey.Encoded), len(image))
	r.around = around
	if frame := m.large.take(image); frame == nil || !p.FrameLarge(frame, image, around, at) {
		p.Frame(around[:at], image, around[at:])
	}
}

// build makes the Example of a stored image, without the image itself, which frame adds. Keys are
// added in sorted order, which saves the builder a sort unless some were renamed or come from a
// table.
func (s *recordMaker) build(m *Work) {
	r, out := &m.Record, &m.out
	pic := &s.Images[m.Sample.Image]
	colorspace := "RGB"
	if out.channels == 1 {
		colorspace = "grayscale"
	}
	b := &r.Builder
	b.Reset()
	if out.ops != nil {
		b.Int64(s.Options.Key(imagekey.Copy), int64(m.Sample.Copy))
		b.Bytes(s.Options.Key(imagekey.Ops), out.ops)
	}
	b.Int64(s.Options.Key(imagekey.Channels), int64(out.channels))
	if s.writesLabels() {
		s.buildLabels(r, pic)
	}
	if s.storesMixture() {
		s.buildMixture(m)
	}
	b.String(s.Options.Key(imagekey.Colorspace), colorspace)
	if out.decoder != "" {
		b.String(s.Options.Key(imagekey.Decoder), out.decoder)
	}
	b.String(s.Options.Key(imagekey.Filename), pic.Path)
	b.String(s.Options.Key(imagekey.Format), out.format)
	b.Int64(s.Options.Key(imagekey.Height), int64(out.height))
	if s.Annotations != nil {
		sum := sha256.Sum256(out.data)
		b.String(s.Options.Key(objects.KeySHA256), hex.EncodeToString(sum[:]))
		s.BuildObjects(m)
	}
	if out.orientation != 0 {
		b.Int64(s.Options.Key(imagekey.Orientation), int64(out.orientation))
	}
	if pic.Mask() != nil {
		b.Bytes(s.Options.Key(objects.KeySegmentation), m.Segmentation)
		b.String(s.Options.Key(objects.KeySegmentationFormat), string(options.PNG))
	}
	if s.Annotations != nil {
		b.String(s.Options.Key(objects.KeySourceID), pic.SourceID())
	}
	b.Int64(s.Options.Key(imagekey.Width), int64(out.width))
	if row := pic.Row(); row != nil && r.row.Parse(row.Features) == nil { // our own encoding
		for i := range r.row.Len() {
			key, value := r.row.At(i)
			b.Feature(string(key), value)
		}
	}
	for _, part := range m.beside.Features {
		b.Bytes(part.Key, part.Value)
	}
	if m.beside.Record != nil && r.row.Parse(m.beside.Record) == nil { // the listing has parsed it
		s.carryOver(m, &r.row)
	}
}

// labelID returns the id that is stored of a label, by the id that an origin.Image has.
func (s *Set) labelID(id int32) int64 {
	if s.Values != nil && id >= 0 {
		return s.Values[id]
	}
	return int64(id)
}

// labelText returns the name of a label, by the id that an origin.Image has: its digits without a
// vocabulary, and no text for labels.Unlabelled.
func (s *Set) labelText(id int32) string {
	switch {
	case id < 0:
		return ""
	case s.Values != nil:
		return s.Texts[id]
	}
	return s.Labels[id]
}

// buildLabels adds the label of an image, or the list of them.
func (s *recordMaker) buildLabels(r *recordBuilder, pic *origin.Image) {
	r.ids, r.texts, r.synsets = r.ids[:0], r.texts[:0], r.synsets[:0]
	add := func(id int32) {
		r.ids, r.texts = append(r.ids, s.labelID(id)), append(r.texts, s.labelText(id))
		if s.Synsets != nil {
			r.synsets = append(r.synsets, s.Synsets[id])
		}
	}
	if s.Options.Labels.Several() {
		for _, id := range pic.Row().Labels {
			add(id)
		}
	} else {
		add(pic.ID)
	}
	r.Builder.Int64(s.Options.Key(imagekey.Label), r.ids...)
	if s.Synsets != nil {
		r.Builder.String(s.Options.Key(imagekey.Synset), r.synsets...)
	}
	r.Builder.String(s.Options.Key(imagekey.Text), r.texts...)
}

// carryOver adds the features of a source's record to a new one. What depends on the image follows
// it.
func (s *recordMaker) carryOver(m *Work, e *tfrecord.Example) {
	b := &m.Record.Builder
	for i := range e.Len() {
		key, value := e.At(i)
		switch name := string(key); {
		case s.Carried.Replaced[name]:
		case m.followed.add(b, s.Options.Key(name), name, value, m):
		case name == imagekey.Encoded:
			b.Feature(name, value) // what is renamed is the image
		default:
			b.Feature(s.Options.Key(name), value)
		}
	}
}
