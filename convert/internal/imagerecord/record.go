package imagerecord

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/placed"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/tfrecord"
)

// recordBuilder makes the Examples of images, with memory that is reused for the next one.
type recordBuilder struct {
	Builder tfrecord.Builder
	row     tfrecord.Example // the features of a row
	ids     []int64
	weights []float32
	texts   []string
	synsets []string
	around  []byte // the Example without the image
}

// frame adds the record of a stored image to the piece.
func (r *recordBuilder) frame(s *sample.Set, m *Work, p *plan.Piece) {
	image := m.out.data
	around, at := r.Builder.AppendAround(r.around[:0], s.Options.Key(imagekey.Encoded), len(image))
	r.around = around
	if frame := m.large.take(image); frame == nil || !p.FrameLarge(frame, image, around, at) {
		p.Frame(around[:at], image, around[at:])
	}
}

// build makes the Example of a stored image, without the image itself, which frame adds. Keys are
// added in sorted order, which saves the builder a sort unless some were renamed or come from a
// table.
func (r *recordBuilder) build(s *sample.Set, m *Work, annotations *placed.Placer) {
	out := &m.out
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
	if s.WritesLabels() {
		r.buildLabels(s, pic)
	}
	if s.StoresMixture() {
		r.buildMixture(s, m)
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
		annotations.Build(b, &m.Objects)
	}
	if out.orientation != 0 {
		b.Int64(s.Options.Key(imagekey.Orientation), int64(out.orientation))
	}
	if pic.Mask() != nil {
		b.Bytes(s.Options.Key(objects.KeySegmentation), m.Objects.Segmentation)
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
		r.carryOver(s, m)
	}
}

// buildLabels adds the label of an image, or the list of them.
func (r *recordBuilder) buildLabels(s *sample.Set, pic *origin.Image) {
	r.ids, r.texts, r.synsets = r.ids[:0], r.texts[:0], r.synsets[:0]
	add := func(id int32) {
		r.ids, r.texts = append(r.ids, s.LabelID(id)), append(r.texts, s.LabelText(id))
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

// buildMixture adds the labels of the mixed images, and their weights.
func (r *recordBuilder) buildMixture(s *sample.Set, m *Work) {
	r.ids, r.weights = r.ids[:0], r.weights[:0]
	add := func(image int32, weight float64) {
		pic := &s.Images[image]
		if !s.Options.Labels.Several() {
			r.ids, r.weights = append(r.ids, s.LabelID(pic.ID)), append(r.weights, float32(weight))
			return
		}
		for _, id := range pic.Row().Labels {
			r.ids, r.weights = append(r.ids, s.LabelID(id)), append(r.weights, float32(weight))
		}
	}
	if len(m.partners) == 0 {
		add(m.Sample.Image, 1)
	} else {
		mixture := sample.MixtureOf(m.mixture)
		add(m.Sample.Image, mixture.Lambda)
		for k, pm := range m.partners {
			add(pm.Sample.Image, mixture.Partners[k].Weight)
		}
	}
	r.Builder.Int64(s.Options.Key(imagekey.MixLabel), r.ids...)
	r.Builder.Float(s.Options.Key(imagekey.MixWeight), r.weights...)
}

// carryOver adds the features of a source's record to a new one. What depends on the image follows
// it.
func (r *recordBuilder) carryOver(s *sample.Set, m *Work) {
	b, e := &r.Builder, &r.row
	for i := range e.Len() {
		key, value := e.At(i)
		switch name := string(key); {
		case s.Carried.Replaced[name]:
		case m.Objects.AddFollowed(b, s.Options.Key(name), name, value, m.out.data):
		case name == imagekey.Encoded:
			b.Feature(name, value) // the option renames the image
		default:
			b.Feature(s.Options.Key(name), value)
		}
	}
}
