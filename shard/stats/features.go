package stats

import (
	"encoding/binary"
	"math"

	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// Feature describes one feature in the result of Measure.
type Feature struct {
	Key string `json:"key"`
	// Records is the number of records that have the feature, Missing the number without it.
	Records int64 `json:"records"`
	Missing int64 `json:"missing"`
	// Kinds counts its occurrences by kind: "bytes", "float", "int64", or "none" if no list is set.
	Kinds map[string]int64 `json:"kinds"`
	// Steps of a feature list; nil for features.
	Steps *Sizes `json:"steps,omitempty"`
	// Values is the number of values per occurrence.
	Values Sizes `json:"values"`
	// Int64 and Float describe its numbers; nil if there are none.
	Int64 *Numbers `json:"int64,omitempty"`
	Float *Numbers `json:"float,omitempty"`
	// NaNs and Infinities count float values that are not finite; they are not in any other figure.
	NaNs       int64 `json:"nans"`
	Infinities int64 `json:"infinities"`
	// Lengths are the lengths of bytes values; nil without any.
	Lengths *Numbers `json:"lengths,omitempty"`
	// Text means that all bytes values are UTF-8.
	Text bool `json:"text,omitempty"`
	// Texts describes the bytes values; nil if there are none.
	Texts *Texts `json:"texts,omitempty"`
	// Images describes the bytes values that are images; nil if there are none.
	Images *Images `json:"pictures,omitempty"`
}

// Numbers returns the most relevant distribution of a feature: its floats, its int64s or the
// lengths of its bytes, the first of these that exists; nil if there are none.
func (f *Feature) Numbers() *Numbers {
	for _, n := range []*Numbers{f.Float, f.Int64, f.Lengths} {
		if n != nil {
			return n
		}
	}
	return nil
}

// sizes is Sizes under construction.
type sizes struct {
	recordscan.Span
	n, total int64
}

func (s *sizes) add(n int64) {
	s.Span.Add(n)
	s.n++
	s.total += n
}

func (s *sizes) merge(t sizes) {
	s.Span.Merge(t.Span)
	s.n += t.n
	s.total += t.total
}

func (s *sizes) sizes() Sizes {
	if s.n == 0 {
		return Sizes{}
	}
	return Sizes{Min: s.Min, Mean: float64(s.total) / float64(s.n), Max: s.Max}
}

// featureStat is Feature under construction.
type featureStat struct {
	key   string
	label bool
	boxes bool  // a side of boxes
	seen  int64 // number of the last record with it, from 1

	records          int64
	kinds            [tfrecord.KindInt64 + 1]int64
	steps, values    sizes
	ints, floats     *spread
	nans, infinities int64
	lengths          *spread
	notText          bool
	texts            *texts
	images           *imageStat
}

// add adds the values of one occurrence.
func (f *featureStat) add(c *occurrence, p *imageScan) {
	f.kinds[c.kind]++
	f.values.add(int64(c.values))
	if c.values == 0 {
		return
	}
	switch c.kind {
	case tfrecord.KindInt64:
		f.addInt64s(c)
	case tfrecord.KindFloat:
		f.addFloats(c)
	case tfrecord.KindBytes:
		f.addByteses(c, p)
	}
}

func (f *featureStat) addInt64s(c *occurrence) {
	if f.ints == nil {
		f.ints = new(spread)
	}
	if !c.usual {
		for x := range c.value.Int64List() {
			f.ints.addInt(x)
		}
		return
	}
	for at := 0; at < len(c.packed); {
		x, n := binary.Uvarint(c.packed[at:])
		f.ints.addInt(int64(x))
		at += n
	}
}

func (f *featureStat) addFloats(c *occurrence) {
	if f.floats == nil {
		f.floats = &spread{float: true}
	}
	if !c.usual {
		for x := range c.value.FloatList() {
			f.addFloat(x)
		}
		return
	}
	for list := c.packed; len(list) >= 4; list = list[4:] {
		f.addFloat(math.Float32frombits(binary.LittleEndian.Uint32(list)))
	}
}

func (f *featureStat) addFloat(x float32) {
	switch {
	case x != x:
		f.nans++
	case math.IsInf(float64(x), 0):
		f.infinities++
	default:
		f.floats.addFloat(x)
	}
}

func (f *featureStat) addByteses(c *occurrence, p *imageScan) {
	if f.lengths == nil {
		f.lengths, f.texts = new(spread), new(texts)
	}
	if !c.usual {
		for x := range c.value.BytesList() {
			f.addBytes(x, p)
		}
		return
	}
	for rest := c.packed; len(rest) > 0; {
		var value []byte
		value, rest, _ = tfrecord.ScanBytes(rest)
		f.addBytes(value, p)
	}
}

func (f *featureStat) addBytes(x []byte, p *imageScan) {
	f.lengths.addInt(int64(len(x)))
	f.texts.add(x)
	if !f.notText {
		f.notText = !recordscan.IsText(x)
	}
	if format := recordscan.ImageFormat(x); format != "" {
		if f.images == nil {
			f.images = newImageStat(p, f.key)
		}
		f.images.add(x, format, p)
	}
}

func (f *featureStat) merge(g *featureStat) {
	f.records += g.records
	for kind, n := range g.kinds {
		f.kinds[kind] += n
	}
	f.steps.merge(g.steps)
	f.values.merge(g.values)
	mergeSpreads(&f.ints, g.ints)
	mergeSpreads(&f.floats, g.floats)
	mergeSpreads(&f.lengths, g.lengths)
	f.nans += g.nans
	f.infinities += g.infinities
	f.notText = f.notText || g.notText
	switch {
	case f.texts == nil:
		f.texts = g.texts
	case g.texts != nil:
		f.texts.merge(g.texts)
	}
	switch {
	case f.images == nil:
		f.images = g.images
	case g.images != nil:
		f.images.merge(g.images)
	}
}

func mergeSpreads(to **spread, from *spread) {
	switch {
	case *to == nil:
		*to = from
	case from != nil:
		(*to).merge(from)
	}
}

// stats describes the feature, given the number of records that could have it.
func (f *featureStat) stats(records int64, o *Options) Feature {
	s := Feature{
		Key: f.key, Records: f.records, Missing: records - f.records,
		Kinds: map[string]int64{}, Values: f.values.sizes(),
		Int64: f.ints.numbers(o.Top), Float: f.floats.numbers(o.Top),
		NaNs: f.nans, Infinities: f.infinities,
		Lengths: f.lengths.numbers(0), Text: f.lengths != nil && !f.notText,
		Texts: f.texts.texts(o.Top), Images: f.images.stats(o.Top),
	}
	for kind, n := range f.kinds {
		if n > 0 {
			s.Kinds[tfrecord.Kind(kind).String()] = n
		}
	}
	if f.steps.n > 0 {
		steps := f.steps.sizes()
		s.Steps = &steps
	}
	return s
}

// omit returns the number of records of a feature beyond the limit, and forgets its images.
func (f *featureStat) omit() int64 {
	f.images.forget()
	return f.records
}

// featureStats describes all features, given the number of records.
func featureStats(t *features.Table[featureStat], records int64, o *Options) []Feature {
	list := []Feature{}
	for _, f := range t.All() {
		list = append(list, f.stats(records, o))
	}
	return list
}
