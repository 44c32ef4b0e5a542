package jsonvalue

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tfrec/tfrec/tfrecord"
)

// Base64Suffix marks, in the formats that are text, the columns of bytes.
const Base64Suffix = ".base64"

// Enough is the number of bytes of a line to collect before they are written: a record may have a
// gigabyte, and its text six times as much.
const Enough = 256 << 10

// Value writes features as JSON, and reuses its memory.
type Value struct {
	quoted bytes.Buffer
	Drain  func([]byte) []byte // may write buffered values, and returns the rest; nil: all are kept
}

// Append appends the values of a feature: of bytes as text or as base64, as a
// list or as the one that there is.
func (v *Value) Append(b []byte, f tfrecord.Feature, text, list bool) (_ []byte, err error) {
	if list {
		b = append(b, '[')
	}
	first := true
	comma := func() {
		if !first {
			b = append(v.rest(b), ',')
		}
		first = false
	}
	switch f.Kind() {
	case tfrecord.KindInt64:
		for n := range f.Int64List() {
			comma()
			b = strconv.AppendInt(b, n, 10)
		}
	case tfrecord.KindFloat:
		for x := range f.FloatList() {
			comma()
			if special := SpecialFloat(x); special != "" {
				b = append(append(append(b, '"'), special...), '"')
			} else {
				b = appendPointed(b, x)
			}
		}
	case tfrecord.KindBytes:
		for s := range f.BytesList() {
			comma()
			if text {
				if b, err = v.AppendString(b, s); err != nil {
					return b, err
				}
				continue
			}
			b = append(b, '"')
			for part := range slices.Chunk(s, Enough/4*3) { // of whole groups of three
				b = base64.StdEncoding.AppendEncode(v.rest(b), part)
			}
			b = append(b, '"')
		}
	}
	if list {
		b = append(b, ']')
	}
	return b, nil
}

func (v *Value) rest(b []byte) []byte {
	if v.Drain == nil {
		return b
	}
	return v.Drain(b)
}

// AppendString appends text as a string, a part of it at a time.
func (v *Value) AppendString(b, s []byte) ([]byte, error) {
	b = append(b, '"')
	for len(s) > 0 {
		n := min(len(s), Enough/8)
		for n < len(s) && n > Enough/8-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		v.quoted.Reset()
		e := json.NewEncoder(&v.quoted)
		e.SetEscapeHTML(false)
		if err := e.Encode(string(s[:n])); err != nil {
			return b, err
		}
		quoted := bytes.TrimSuffix(v.quoted.Bytes(), []byte("\n"))
		b = append(v.rest(b), quoted[1:len(quoted)-1]...)
		s = s[n:]
	}
	return append(b, '"'), nil
}

// AppendFloat appends the fewest digits that give the same float32.
func AppendFloat(b []byte, x float32) []byte { return strconv.AppendFloat(b, float64(x), 'g', -1, 32) }

// appendPointed is appendFloat with a point or an exponent, so that a reader of JSON that infers
// types takes it for a float.
func appendPointed(b []byte, x float32) []byte {
	start := len(b)
	b = AppendFloat(b, x)
	if !bytes.ContainsAny(b[start:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// SpecialFloat is the word for a number without digits, "" for all others.
func SpecialFloat(x float32) string {
	switch f := float64(x); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return ""
}
