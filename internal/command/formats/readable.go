package formats

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// Longer values are not shown, but their size.
const (
	maxShownText   = 1024 // bytes of a text
	maxShownValues = 64   // values of a list, in the text form
)

// Readable formats records for reading: as text, or as JSON objects with a scalar if a
// feature has one value. It reuses its memory; the zero value is ready.
type Readable struct {
	example  tfrecord.Example
	sequence tfrecord.SequenceExample
	Tally    message.Tally // of the records so far
	Outlet
}

// Outlet writes formatted text piece by piece, so that a record of a gigabyte is not held again as
// text. The zero outlet writes nothing.
type Outlet struct {
	Write func(p []byte) // nil: all is kept
}

// Enough is the number of formatted bytes from which Drain writes them.
const Enough = 256 << 10

// Drain writes dst if it has Enough bytes, and returns the rest, which is empty after a write.
func (o Outlet) Drain(dst []byte) []byte {
	if o.Write == nil || len(dst) < Enough {
		return dst
	}
	o.Write(dst)
	return dst[:0]
}

// Object appends the record as a JSON object: an Example's features by key; a
// SequenceExample's under "context" and "feature_lists"; of anything else the
// bytes.
func (f *Readable) Object(dst, record []byte) []byte {
	switch f.Tally.Of(record) {
	case message.Example:
		if f.example.Parse(record) == nil {
			return f.features(dst, &f.example.Features)
		}
	case message.SequenceExample:
		if f.sequence.Parse(record) == nil {
			dst = f.features(append(dst, `{"context":`...), &f.sequence.Context)
			dst = f.lists(append(dst, `,"feature_lists":`...), &f.sequence.Lists)
			return append(dst, '}')
		}
	}
	dst = append(dst, `{"bytes":`...)
	return append(f.bytes(dst, record), '}')
}

func (f *Readable) features(dst []byte, features *tfrecord.Features) []byte {
	dst = append(dst, '{')
	for i := range features.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		key, value := features.At(i)
		dst = append(AppendString(f.Drain(dst), jsontext.Readable(string(key))), ':')
		dst = f.feature(dst, value)
	}
	return append(dst, '}')
}

func (f *Readable) lists(dst []byte, lists *tfrecord.FeatureLists) []byte {
	dst = append(dst, '{')
	for i := range lists.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		key, list := lists.At(i)
		dst = append(AppendString(dst, jsontext.Readable(string(key))), ":["...)
		for step := range list.Len() {
			if step > 0 {
				dst = append(f.Drain(dst), ',')
			}
			dst = f.feature(dst, list.At(step))
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// feature appends a feature's values: a scalar, a list, or null when no kind
// is set.
func (f *Readable) feature(dst []byte, value tfrecord.Feature) []byte {
	if value.Kind() == tfrecord.KindNone {
		return append(dst, "null"...)
	}
	if value.Len() != 1 {
		dst = append(dst, '[')
	}
	first := true
	comma := func() {
		if !first {
			dst = append(f.Drain(dst), ',')
		}
		first = false
	}
	for x := range value.Int64List() {
		comma()
		dst = strconv.AppendInt(dst, x, 10)
	}
	for x := range value.FloatList() {
		comma()
		dst = appendFloat(dst, float64(x), 32)
	}
	for x := range value.BytesList() {
		comma()
		dst = f.bytes(dst, x)
	}
	if value.Len() != 1 {
		dst = append(dst, ']')
	}
	return dst
}

// bytes appends a value as a string when it is text of acceptable length, and otherwise its size.
func (f *Readable) bytes(dst, value []byte) []byte {
	if isShown(value) {
		return AppendString(dst, jsontext.Readable(string(value)))
	}
	return append(strconv.AppendInt(append(dst, `{"size":`...), int64(len(value)), 10), '}')
}

// isShown reports whether a value is text of acceptable length. A few stray bytes do not make a
// file's name binary.
func isShown(value []byte) bool {
	if len(value) > maxShownText {
		return false
	}
	text := jsontext.Readable(string(value))
	stray := (len(text) - len(value)) / len(`xff`)
	return 4*stray <= len(value) && !strings.ContainsFunc(text, isBinary)
}

// isBinary reports whether a character does not occur in texts.
func isBinary(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

// Text appends the record as text: a heading, then a line for each feature.
func (f *Readable) Text(dst []byte, path string, record, offset int64, data []byte) []byte {
	dst = fmt.Appendf(dst, "%s: record %d at byte %d, %s\n", printable.String(path), record, offset, plural.Of(len(data), "byte"))
	switch kind := f.Tally.Of(data); kind {
	case message.Example:
		if f.example.Parse(data) == nil {
			return f.lines(dst, "  ", &f.example.Features)
		}
	case message.SequenceExample:
		if f.sequence.Parse(data) == nil {
			dst = f.lines(append(dst, "  context\n"...), "    ", &f.sequence.Context)
			dst = append(dst, "  feature lists\n"...)
			for i := range f.sequence.Lists.Len() {
				key, list := f.sequence.Lists.At(i)
				dst = fmt.Appendf(dst, "    %s: %s\n", printable.String(string(key)), plural.Of(list.Len(), "step"))
				for step := range min(list.Len(), maxShownValues) {
					dst = append(f.line(append(dst, "      "...), list.At(step)), '\n')
				}
				if n := list.Len() - maxShownValues; n > 0 {
					dst = fmt.Appendf(dst, "      ... and %d more\n", n)
				}
			}
			return dst
		}
	case message.Unknown:
	default:
		dst = fmt.Appendf(dst, "  %s: ", kind)
		return append(f.value(dst, data), '\n')
	}
	dst = append(dst, "  not tf.train.Example: "...)
	return append(f.value(dst, data), '\n')
}

func (f *Readable) lines(dst []byte, indent string, features *tfrecord.Features) []byte {
	for i := range features.Len() {
		key, value := features.At(i)
		dst = append(append(append(f.Drain(dst), indent...), printable.String(string(key))...), ": "...)
		dst = append(f.line(dst, value), '\n')
	}
	return dst
}

// line appends a feature's values, as many as a person would read.
func (f *Readable) line(dst []byte, value tfrecord.Feature) []byte {
	if value.Kind() == tfrecord.KindNone {
		return append(dst, "(not set)"...)
	}
	if value.Len() == 0 {
		return fmt.Appendf(dst, "(no %s values)", value.Kind())
	}
	n := 0
	another := func() bool {
		if n++; n > 1 && n <= maxShownValues {
			dst = append(dst, ", "...)
		}
		return n <= maxShownValues
	}
	for x := range value.Int64List() {
		if !another() {
			break
		}
		dst = strconv.AppendInt(dst, x, 10)
	}
	for x := range value.FloatList() {
		if !another() {
			break
		}
		dst = strconv.AppendFloat(dst, float64(x), 'g', -1, 32)
	}
	for x := range value.BytesList() {
		if !another() {
			break
		}
		dst = f.value(dst, x)
	}
	if n := value.Len() - maxShownValues; n > 0 {
		dst = fmt.Appendf(dst, ", ... and %d more", n)
	}
	return dst
}

// value appends bytes in readable form: quoted text, or their size and beginning.
func (f *Readable) value(dst, value []byte) []byte {
	const beginning = 16
	switch {
	case isShown(value):
		return strconv.AppendQuote(dst, string(value))
	case len(value) <= beginning:
		return fmt.Appendf(dst, "%s (%x)", plural.Of(len(value), "byte"), value)
	default:
		return fmt.Appendf(dst, "%s (%x...)", plural.Of(len(value), "byte"), value[:beginning])
	}
}

// AppendString appends a JSON string.
func AppendString(dst []byte, s string) []byte {
	if strings.ContainsAny(s, "<>&") { // slower, without escapes for HTML
		if dst, err := jsontext.Append(dst, s); err == nil {
			return dst
		}
	}
	quoted, err := json.Marshal(s)
	if err != nil { // strings always encode
		panic(err)
	}
	return append(dst, quoted...)
}

// appendFloat appends a JSON number with the shortest digits that give x back
// at that many bits; what JSON has no number for, as protobuf writes it.
func appendFloat(dst []byte, x float64, bits int) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(dst, `"-Infinity"`...)
	case x == 0 && math.Signbit(x):
		return append(dst, "-0.0"...) // readers take -0 for an integer, without its sign
	}
	return strconv.AppendFloat(dst, x, 'g', -1, bits)
}
