package stats

import (
	"math"

	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// FeatureSummary describes one feature in the result of Inspect.
type FeatureSummary struct {
	Key string `json:"key"`
	// Records is the number of records that have the feature, Missing the number without it.
	Records int64 `json:"records"`
	Missing int64 `json:"missing"`
	// Kinds counts its occurrences by kind: "bytes", "float", "int64", or "none" if no list is set.
	Kinds map[string]int64 `json:"kinds"`
	// Steps of a feature list; nil for features.
	Steps *Range `json:"steps,omitempty"`
	// Values is the number of values per occurrence.
	Values Range `json:"values"`
	// Int64 is the range of int64 values; nil if there are none.
	Int64 *Range `json:"int64,omitempty"`
	// Float is the range of finite float values; nil if there are none.
	Float *FloatRange `json:"float,omitempty"`
	// NaNs and Infinities count float values that are not finite.
	NaNs       int64 `json:"nans,omitempty"`
	Infinities int64 `json:"infinities,omitempty"`
	// Bytes is the range of the lengths of bytes values; nil if there are none.
	Bytes *Range `json:"bytes,omitempty"`
	// Text means that all bytes values are UTF-8.
	Text bool `json:"text,omitempty"`
	// Formats counts the bytes values that begin like an image, by format.
	Formats map[string]int64 `json:"formats,omitempty"`
}

// Range is the minimum and the maximum of numbers.
type Range struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// FloatRange is the minimum and the maximum of floats.
type FloatRange struct {
	Min float32 `json:"min"`
	Max float32 `json:"max"`
}

// rangeOf returns the range of numbers; nil if there are none.
func rangeOf(s recordscan.Span) *Range {
	if !s.Any {
		return nil
	}
	return &Range{s.Min, s.Max}
}

// featureView is a FeatureSummary under construction.
type featureView struct {
	key     string
	label   bool
	boxes   bool // a side of boxes
	records int64
	kinds   [tfrecord.KindInt64 + 1]int64

	steps, values, ints, lengths recordscan.Span

	floats           FloatRange
	anyFloat         bool
	nans, infinities int64
	notText          bool
	formats          map[string]int64
}

// add adds one occurrence of the feature.
func (f *featureView) add(value tfrecord.Feature) {
	f.kinds[value.Kind()]++
	f.values.Add(int64(value.Len()))
	switch value.Kind() {
	case tfrecord.KindInt64:
		for x := range value.Int64List() {
			f.ints.Add(x)
		}
	case tfrecord.KindFloat:
		for x := range value.FloatList() {
			f.addFloat(x)
		}
	case tfrecord.KindBytes:
		for x := range value.BytesList() {
			f.addBytes(x)
		}
	}
}

func (f *featureView) addFloat(x float32) {
	switch {
	case x != x:
		f.nans++
	case math.IsInf(float64(x), 0):
		f.infinities++
	case !f.anyFloat:
		f.floats, f.anyFloat = FloatRange{x, x}, true
	default:
		f.floats.Min, f.floats.Max = min(f.floats.Min, x), max(f.floats.Max, x)
	}
}

func (f *featureView) addBytes(x []byte) {
	f.lengths.Add(int64(len(x)))
	if format := recordscan.ImageFormat(x); format != "" {
		if f.formats == nil {
			f.formats = make(map[string]int64)
		}
		f.formats[format]++
	}
	if !f.notText {
		f.notText = !recordscan.IsText(x)
	}
}

func (f *featureView) merge(g *featureView) {
	f.records += g.records
	for kind, n := range g.kinds {
		f.kinds[kind] += n
	}
	f.steps.Merge(g.steps)
	f.values.Merge(g.values)
	f.ints.Merge(g.ints)
	f.lengths.Merge(g.lengths)
	if g.anyFloat {
		f.addFloat(g.floats.Min)
		f.addFloat(g.floats.Max)
	}
	f.nans += g.nans
	f.infinities += g.infinities
	f.notText = f.notText || g.notText
	if f.formats == nil {
		f.formats = g.formats
	} else {
		addCounts(f.formats, g.formats)
	}
}

func (f *featureView) summary(records int64) FeatureSummary {
	s := FeatureSummary{
		Key: f.key, Records: f.records, Missing: records - f.records,
		Kinds: map[string]int64{}, Steps: rangeOf(f.steps), Values: Range{f.values.Min, f.values.Max},
		Int64: rangeOf(f.ints), NaNs: f.nans, Infinities: f.infinities,
		Bytes: rangeOf(f.lengths), Text: f.lengths.Any && !f.notText, Formats: f.formats,
	}
	for kind, n := range f.kinds {
		if n > 0 {
			s.Kinds[tfrecord.Kind(kind).String()] = n
		}
	}
	if f.anyFloat {
		s.Float = &f.floats
	}
	return s
}

// omit returns the number of records of a feature beyond the limit.
func (f *featureView) omit() int64 { return f.records }

// seen has the statistics of a feature.
type seen[V any] interface {
	*V
	merge(*V)
	omit() (records int64)
}

// mergeTables adds the features of another table, for which room is reduced. It returns the number
// of occurrences for which there was no room.
func mergeTables[P seen[V], V any](to, from *features.Table[V], room *int) (omitted int64) {
	for key, g := range from.All() {
		if f := to.Get(key); f != nil {
			P(f).merge(g)
		} else if *room > 0 {
			*room--
			to.Add(key, *g)
		} else {
			omitted += P(g).omit()
		}
	}
	return omitted
}

// summaries describes all features, given the number of records.
func summaries(t *features.Table[featureView], records int64) []FeatureSummary {
	list := []FeatureSummary{}
	for _, f := range t.All() {
		list = append(list, f.summary(records))
	}
	return list
}
