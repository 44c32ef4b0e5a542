package command

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Longer values are not shown, but their size.
const (
	maxShownText   = 1024 // bytes of a text
	maxShownValues = 64   // values of a list, in the text form
)

// readableFormat shows records to people: as text, or as JSON objects with a
// scalar where a feature has one value. Its memory is used again; the zero
// value is ready.
type readableFormat struct {
	example  tfrecord.Example
	sequence tfrecord.SequenceExample
	ints     []int64
	floats   []float32
	values   [][]byte
}

// object appends the record as a JSON object: an Example's features by key; a
// SequenceExample's under "context" and "feature_lists"; of anything else the
// bytes.
func (f *readableFormat) object(dst, record []byte) []byte {
	switch shard.MessageOf(record) {
	case shard.MessageExample:
		if f.example.Parse(record) == nil {
			return f.features(dst, &f.example.Features)
		}
	case shard.MessageSequenceExample:
		if f.sequence.Parse(record) == nil {
			dst = f.features(append(dst, `{"context":`...), &f.sequence.Context)
			dst = f.lists(append(dst, `,"feature_lists":`...), &f.sequence.Lists)
			return append(dst, '}')
		}
	}
	dst = append(dst, `{"bytes":`...)
	return append(f.bytes(dst, record), '}')
}

func (f *readableFormat) features(dst []byte, features *tfrecord.Features) []byte {
	dst = append(dst, '{')
	for i := range features.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		key, value := features.At(i)
		dst = append(appendString(dst, shard.Readable(string(key))), ':')
		dst = f.feature(dst, value)
	}
	return append(dst, '}')
}

func (f *readableFormat) lists(dst []byte, lists *tfrecord.FeatureLists) []byte {
	dst = append(dst, '{')
	for i := range lists.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		key, list := lists.At(i)
		dst = append(appendString(dst, shard.Readable(string(key))), ":["...)
		for step := range list.Len() {
			if step > 0 {
				dst = append(dst, ',')
			}
			dst = f.feature(dst, list.At(step))
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// feature appends a feature's values: a scalar, a list, or null when no kind
// is set.
func (f *readableFormat) feature(dst []byte, value tfrecord.Feature) []byte {
	if value.Kind() == tfrecord.KindNone {
		return append(dst, "null"...)
	}
	if value.Len() != 1 {
		dst = append(dst, '[')
	}
	comma := func(i int) {
		if i > 0 {
			dst = append(dst, ',')
		}
	}
	f.ints = value.AppendInt64s(f.ints[:0])
	for i, x := range f.ints {
		comma(i)
		dst = strconv.AppendInt(dst, x, 10)
	}
	f.floats = value.AppendFloats(f.floats[:0])
	for i, x := range f.floats {
		comma(i)
		dst = appendFloat(dst, float64(x), 32)
	}
	f.values = value.AppendBytes(f.values[:0])
	for i, x := range f.values {
		comma(i)
		dst = f.bytes(dst, x)
	}
	if value.Len() != 1 {
		dst = append(dst, ']')
	}
	return dst
}

// bytes appends a value as a string when it is text of bearable length, and
// otherwise its size.
func (f *readableFormat) bytes(dst, value []byte) []byte {
	if isShown(value) {
		return appendString(dst, shard.Readable(string(value)))
	}
	return append(strconv.AppendInt(append(dst, `{"size":`...), int64(len(value)), 10), '}')
}

// isShown reports whether a value is text of bearable length. A few stray bytes
// do not make a file's name binary.
func isShown(value []byte) bool {
	if len(value) > maxShownText {
		return false
	}
	text := shard.Readable(string(value))
	stray := (len(text) - len(value)) / len(`xff`)
	return 4*stray <= len(value) && !strings.ContainsFunc(text, isBinary)
}

// isBinary reports whether a character does not occur in texts.
func isBinary(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

// text appends the record for people: a heading, then a line a feature.
func (f *readableFormat) text(dst []byte, path string, record, offset int64, data []byte) []byte {
	dst = fmt.Appendf(dst, "%s: record %d at byte %d, %s\n", path, record, offset, count(int64(len(data)), "byte"))
	switch message := shard.MessageOf(data); message {
	case shard.MessageExample:
		if f.example.Parse(data) == nil {
			return f.lines(dst, "  ", &f.example.Features)
		}
	case shard.MessageSequenceExample:
		if f.sequence.Parse(data) == nil {
			dst = f.lines(append(dst, "  context\n"...), "    ", &f.sequence.Context)
			dst = append(dst, "  feature lists\n"...)
			for i := range f.sequence.Lists.Len() {
				key, list := f.sequence.Lists.At(i)
				dst = fmt.Appendf(dst, "    %s: %s\n", printable(string(key)), count(int64(list.Len()), "step"))
				for step := range min(list.Len(), maxShownValues) {
					dst = append(f.line(append(dst, "      "...), list.At(step)), '\n')
				}
				if n := list.Len() - maxShownValues; n > 0 {
					dst = fmt.Appendf(dst, "      ... and %d more\n", n)
				}
			}
			return dst
		}
	case shard.MessageUnknown:
		dst = append(dst, "  not tf.train.Example"...)
	default:
		dst = fmt.Appendf(dst, "  %s", message)
	}
	return append(f.value(append(dst, ": "...), data), '\n')
}

func (f *readableFormat) lines(dst []byte, indent string, features *tfrecord.Features) []byte {
	for i := range features.Len() {
		key, value := features.At(i)
		dst = append(append(append(dst, indent...), printable(string(key))...), ": "...)
		dst = append(f.line(dst, value), '\n')
	}
	return dst
}

// line appends a feature's values, as many as a person would read.
func (f *readableFormat) line(dst []byte, value tfrecord.Feature) []byte {
	if value.Kind() == tfrecord.KindNone {
		return append(dst, "(not set)"...)
	}
	if value.Len() == 0 {
		return fmt.Appendf(dst, "(no %s values)", value.Kind())
	}
	f.ints = value.AppendInt64s(f.ints[:0])
	f.floats = value.AppendFloats(f.floats[:0])
	f.values = value.AppendBytes(f.values[:0])
	for i := range min(value.Len(), maxShownValues) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		switch value.Kind() {
		case tfrecord.KindInt64:
			dst = strconv.AppendInt(dst, f.ints[i], 10)
		case tfrecord.KindFloat:
			dst = strconv.AppendFloat(dst, float64(f.floats[i]), 'g', -1, 32)
		default:
			dst = f.value(dst, f.values[i])
		}
	}
	if n := value.Len() - maxShownValues; n > 0 {
		dst = fmt.Appendf(dst, ", ... and %d more", n)
	}
	return dst
}

// value appends bytes for people: quoted text, or their size and beginning.
func (f *readableFormat) value(dst, value []byte) []byte {
	const beginning = 16
	switch {
	case isShown(value):
		return strconv.AppendQuote(dst, string(value))
	case len(value) <= beginning:
		return fmt.Appendf(dst, "%s (%x)", count(int64(len(value)), "byte"), value)
	default:
		return fmt.Appendf(dst, "%s (%x...)", count(int64(len(value)), "byte"), value[:beginning])
	}
}

// printable is a name for a terminal: characters that would move its cursor
// are escaped.
func printable(s string) string {
	s = shard.Readable(s)
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// appendString appends a JSON string.
func appendString(dst []byte, s string) []byte {
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
