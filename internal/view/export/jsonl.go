package export

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/tfrecord"
)

// base64Suffix marks, in the formats that are text, the columns of bytes.
const base64Suffix = ".base64"

// textNames returns the names of columns in a file of text. Text under a key that ends in the suffix is
// written in base64, under the key and the suffix once more: as it is, it would be decoded when it is
// read.
func textNames(s *inputScan) ([]string, error) {
	names := make([]string, len(s.columns))
	taken := map[string]bool{}
	for i, c := range s.columns {
		c.text = c.text && !strings.HasSuffix(c.key, base64Suffix)
		names[i] = c.key
		if c.kind == tfrecord.KindBytes && !c.text {
			names[i] += base64Suffix
		}
		if taken[names[i]] {
			return nil, fmt.Errorf("two columns would be named %s: tfrec features rename gives one another key", names[i])
		}
		taken[names[i]] = true
	}
	return names, nil
}

// jsonl writes one object for each line. A feature is a list unless all records that have it have
// one value; a record without it has no such member. Numbers that JSON cannot represent are
// strings, as in protobuf's JSON mapping.
type jsonl struct {
	w     io.Writer
	s     *inputScan
	names [][]byte // quoted
	value jsonValue
	line  []byte
	err   error // of writing
}

func newJSONL(w io.Writer, s *inputScan) (*jsonl, error) {
	names, err := textNames(s)
	if err != nil {
		return nil, err
	}
	for _, c := range s.columns {
		if c.kind != tfrecord.KindBytes && strings.HasSuffix(c.key, base64Suffix) {
			return nil, fmt.Errorf("the feature %s has numbers, and a member of this name is read as bytes: tfrec features rename gives it another key", c.key)
		}
	}
	j := &jsonl{w: w, s: s}
	j.value.drain = j.drain
	for _, name := range names {
		quoted, err := j.value.appendString(nil, []byte(name))
		if err != nil {
			return nil, err
		}
		j.names = append(j.names, quoted)
	}
	return j, nil
}

func (j *jsonl) row(cells []tfrecord.Feature) (err error) {
	b := append(j.line[:0], '{')
	first := true
	for i, f := range cells {
		if f.Kind() == tfrecord.KindNone {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, j.names[i]...), ':')
		if b, err = j.value.append(b, f, j.s.columns[i].text, !j.s.columns[i].single()); err != nil {
			return err
		}
	}
	j.line = append(b, '}', '\n')
	if j.err == nil {
		_, j.err = j.w.Write(j.line)
	}
	return j.err
}

// enough is the number of bytes of a line to collect before they are written: a record may have a
// gigabyte, and its text six times as much.
const enough = 256 << 10

// drain writes b if it is long enough, and returns the unwritten bytes.
func (j *jsonl) drain(b []byte) []byte {
	if len(b) < enough {
		return b
	}
	if j.err == nil {
		_, j.err = j.w.Write(b)
	}
	return b[:0]
}

func (j *jsonl) close() error { return nil }

// jsonValue writes features as JSON, and reuses its memory.
type jsonValue struct {
	quoted bytes.Buffer
	drain  func([]byte) []byte // may write buffered values, and returns the rest; nil: all are kept
}

// append appends the values of a feature: of bytes as text or as base64, as a
// list or as the one that there is.
func (v *jsonValue) append(b []byte, f tfrecord.Feature, text, list bool) (_ []byte, err error) {
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
			if special := specialFloat(x); special != "" {
				b = append(append(append(b, '"'), special...), '"')
			} else {
				b = appendPointed(b, x)
			}
		}
	case tfrecord.KindBytes:
		for s := range f.BytesList() {
			comma()
			if text {
				if b, err = v.appendString(b, s); err != nil {
					return b, err
				}
				continue
			}
			b = append(b, '"')
			for part := range slices.Chunk(s, enough/4*3) { // of whole groups of three
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

func (v *jsonValue) rest(b []byte) []byte {
	if v.drain == nil {
		return b
	}
	return v.drain(b)
}

// appendString appends text as a string, a part of it at a time.
func (v *jsonValue) appendString(b, s []byte) ([]byte, error) {
	b = append(b, '"')
	for len(s) > 0 {
		n := min(len(s), enough/8)
		for n < len(s) && n > enough/8-utf8.UTFMax && !utf8.RuneStart(s[n]) {
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

// appendFloat appends the fewest digits that give the same float32.
func appendFloat(b []byte, x float32) []byte { return strconv.AppendFloat(b, float64(x), 'g', -1, 32) }

// appendPointed is appendFloat with a point or an exponent, so that a reader of JSON that infers
// types takes it for a float.
func appendPointed(b []byte, x float32) []byte {
	start := len(b)
	b = appendFloat(b, x)
	if !bytes.ContainsAny(b[start:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// specialFloat is the word for a number without digits, "" for all others.
func specialFloat(x float32) string {
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
