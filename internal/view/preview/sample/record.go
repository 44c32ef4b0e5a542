package sample

import (
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// Record is a record that is shown. Its texts are the data's, not yet fit to be
// shown.
type Record struct {
	Split, Shard string
	Record       int64
	Size         int // of the record, in bytes
	Key, Label   string
	Copy         int64
	Ops          string // what was done to a variant
	Values       []value
	Image        *ShownImage // nil of a record without one
	Drawing      *Drawing    // of the image; nil if there is nothing to draw
	// err is the reason why the record, or its image, cannot be shown.
	Err error
}

// value is a feature of a record.
type value struct{ Key, Text string }

// Limits on the shown features of a record.
const (
	maxFeatures = 40   // of them
	maxValues   = 8    // of one feature
	maxListed   = 4096 // values up to which more than the first is looked at
)

// Describer makes samples of records, for one goroutine at a time.
type Describer struct {
	*contents.Set
	Budget     int // of an image and its masks as base64, in bytes; 0 for pixels
	objects    objects.Objects
	Thumbnails Thumbnails
	example    tfrecord.Example
	sequence   tfrecord.SequenceExample
}

// Describe makes a sample of the record at a location. err is the error of reading the record, or
// nil.
func (d *Describer) Describe(at contents.Location, record []byte, err error) Record {
	f := d.Files[at.File]
	s := Record{Split: f.Split, Shard: filepath.Base(f.Path), Record: at.Record, Size: len(record)}
	s.Key = fmt.Sprintf("record %d of %s", at.Record, s.Shard)
	if name, ok := shard.ParseName(s.Shard); ok {
		s.Key = fmt.Sprintf("record %d of %s %d", at.Record, name.Split, name.Index)
	}
	if err != nil {
		s.Err = fmt.Errorf("cannot be read: %w", short(err))
		return s
	}
	kind := message.Of(record)
	switch {
	case kind == message.Example && d.example.Parse(record) == nil:
		d.fill(&s, &d.example.Features, nil)
	case kind == message.SequenceExample && d.sequence.Parse(record) == nil:
		d.fill(&s, &d.sequence.Context, &d.sequence.Lists)
	default:
		if kind == message.Unknown || kind == message.Example {
			kind = "unknown"
		}
		head := record[:min(len(record), 32)]
		s.Values = []value{{"message", string(kind)}, {"first bytes", hex.EncodeToString(head)}}
	}
	return s
}

// short is the fault of a record without its location, which is shown separately.
func short(err error) error {
	var damage *tfrecord.Error
	if errors.As(err, &damage) {
		return fmt.Errorf("%s: %w", damage.Part, damage.Err)
	}
	return err
}

func (d *Describer) fill(s *Record, features *tfrecord.Features, lists *tfrecord.FeatureLists) {
	if key := textOf(features, d.Key); key != "" {
		s.Key = key
	}
	s.Label = d.labelOf(features)
	if f, ok := features.Get(imagekey.Copy); ok {
		s.Copy, _ = f.Int64()
		s.Ops = textOf(features, imagekey.Ops)
	}
	if d.ImageKey != "" {
		d.fillImage(s, features, lists)
	}
	if w := s.Drawing; w != nil {
		s.Values = append(s.Values, value{"objects", strings.Trim(w.Summary+"; "+w.Problem, "; ")})
	}
	for i := range min(features.Len(), maxFeatures) {
		key, f := features.At(i)
		s.Values = append(s.Values, value{string(key), valueText(f)})
	}
	if more := features.Len() - maxFeatures; more > 0 {
		s.Values = append(s.Values, value{"more", plaintext.Count(int64(more), "feature")})
	}
	if lists != nil {
		for i := range min(lists.Len(), maxFeatures) {
			key, list := lists.At(i)
			text := plaintext.Count(int64(list.Len()), "step")
			if list.Len() > 0 {
				text += ", first: " + valueText(list.At(0))
			}
			s.Values = append(s.Values, value{string(key), text})
		}
	}
}

func (d *Describer) fillImage(s *Record, features *tfrecord.Features, lists *tfrecord.FeatureLists) {
	var f tfrecord.Feature
	ok := false
	if !d.InList {
		f, ok = features.Get(d.ImageKey)
	} else if lists != nil {
		var list tfrecord.FeatureList
		if list, ok = lists.Get(d.ImageKey); ok && list.Len() > 0 {
			f = list.At(0)
		}
	}
	data, isBytes := f.Bytes()
	switch {
	case !ok || f.Len() == 0:
		s.Err = fmt.Errorf("no image: the record has no value in %s", plaintext.Shown(d.ImageKey, plaintext.MaxKeyText))
	case !isBytes:
		s.Err = fmt.Errorf("no image: %s holds %s values", plaintext.Shown(d.ImageKey, plaintext.MaxKeyText), f.Kind())
	case d.Budget == 0:
		s.Image, s.Err = d.Thumbnails.load(features, data, CellSide)
	default:
		s.Image, s.Err = d.Thumbnails.small(features, data, d.Budget-d.maskBudget())
	}
	if s.Image != nil && s.Err == nil && !d.InList {
		s.Drawing = d.Draw(features, s.Image)
		s.Err = s.Drawing.encodeMasks(d.maskBudget())
	}
}

// maskBudget is the part of the budget that masks have.
func (d *Describer) maskBudget() int {
	if d.Masks {
		return d.Budget / 4
	}
	return 0
}

// labelOf returns the record's label, by name where there is one.
func (d *Describer) labelOf(features *tfrecord.Features) string {
	f, ok := features.Get(d.Label)
	if !ok || f.Len() != 1 {
		return ""
	}
	if id, ok := f.Int64(); ok {
		if name := d.Ids[id]; name != "" {
			return name
		}
		return strconv.FormatInt(id, 10)
	}
	return textOf(features, d.Label)
}

// textOf returns the first value of a feature as text; "" of none.
func textOf(features *tfrecord.Features, key string) string {
	f, ok := features.Get(key)
	if !ok || key == "" {
		return ""
	}
	if b, ok := f.Bytes(); ok {
		return string(b[:min(len(b), plaintext.MaxLooked+1)])
	}
	return valueText(f)
}

// valueText writes the values of a feature: the first of many, and how many
// there are.
func valueText(f tfrecord.Feature) string {
	n := f.Len()
	var list []string
	if n > maxListed {
		list = firstOf(f)
	} else {
		list = severalOf(f)
	}
	text := strings.Join(list, ", ")
	switch {
	case n == 0:
		return "no value"
	case n > len(list):
		return fmt.Sprintf("%s, %s (%s)", text, plaintext.Ellipsis, plaintext.Count(int64(n), "value"))
	}
	return text
}

func firstOf(f tfrecord.Feature) []string {
	if x, ok := f.Int64(); ok {
		return []string{strconv.FormatInt(x, 10)}
	}
	if x, ok := f.Float(); ok {
		return []string{floatText(x)}
	}
	x, _ := f.Bytes()
	return []string{bytesText(x)}
}

func severalOf(f tfrecord.Feature) []string {
	var list []string
	switch f.Kind() {
	case tfrecord.KindInt64:
		for x := range first(f.Int64List()) {
			list = append(list, strconv.FormatInt(x, 10))
		}
	case tfrecord.KindFloat:
		for x := range first(f.FloatList()) {
			list = append(list, floatText(x))
		}
	case tfrecord.KindBytes:
		for x := range first(f.BytesList()) {
			list = append(list, bytesText(x))
		}
	}
	return list
}

// first yields the values that are shown.
func first[T any](values iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		n := 0
		for v := range values {
			if n++; n > maxValues || !yield(v) {
				return
			}
		}
	}
}

func floatText(x float32) string { return strconv.FormatFloat(float64(x), 'g', 6, 32) }

// bytesText formats a value of bytes: text as it is, the kind of anything else.
func bytesText(b []byte) string {
	if format := augment.Sniff(b); format != "" {
		return fmt.Sprintf("%s, %s", strings.ToUpper(string(format)), size.Format(int64(len(b))))
	}
	head := b[:min(len(b), plaintext.MaxValueText)]
	if len(head) < len(b) { // not in the middle of a character
		for n := 0; n < utf8.UTFMax && len(head) > 0 && !utf8.Valid(head); n++ {
			head = head[:len(head)-1]
		}
	}
	if !utf8.Valid(head) {
		return plaintext.Count(int64(len(b)), "byte")
	}
	if len(head) < len(b) {
		return string(head) + plaintext.Ellipsis
	}
	return string(head)
}
