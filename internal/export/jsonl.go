package export

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tfrec/tfrec/tfrecord"
)

// base64Suffix marks, in the formats that are text, the columns of bytes.
const base64Suffix = ".base64"

// textNames are the names of columns in a file of text.
func textNames(s *survey) ([]string, error) {
	names := make([]string, len(s.columns))
	taken := map[string]bool{}
	for i, c := range s.columns {
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

// jsonl writes an object a line. A feature is a list unless all records that
// have it have one value; a record without it has no such member. Numbers that
// JSON has no words for are strings, as in protobuf's JSON mapping.
type jsonl struct {
	w     io.Writer
	s     *survey
	names [][]byte // quoted
	value jsonValue
	line  []byte
}

func newJSONL(w io.Writer, s *survey) (*jsonl, error) {
	names, err := textNames(s)
	if err != nil {
		return nil, err
	}
	j := &jsonl{w: w, s: s}
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
	for i, f := range cells {
		if f.Kind() == tfrecord.KindNone {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, j.names[i]...), ':')
		if b, err = j.value.append(b, f, j.s.columns[i].text, !j.s.columns[i].single()); err != nil {
			return err
		}
	}
	j.line = append(b, '}', '\n')
	_, err = j.w.Write(j.line)
	return err
}

func (j *jsonl) close() error { return nil }

// jsonValue writes features as JSON, and reuses its memory.
type jsonValue struct {
	ints   []int64
	floats []float32
	bytes  [][]byte
	quoted bytes.Buffer
}

// append appends the values of a feature: of bytes as text or as base64, as a
// list or as the one that there is.
func (v *jsonValue) append(b []byte, f tfrecord.Feature, text, list bool) (_ []byte, err error) {
	if list {
		b = append(b, '[')
	}
	comma := func(i int) {
		if i > 0 {
			b = append(b, ',')
		}
	}
	switch f.Kind() {
	case tfrecord.KindInt64:
		v.ints = f.AppendInt64s(v.ints[:0])
		for i, n := range v.ints {
			comma(i)
			b = strconv.AppendInt(b, n, 10)
		}
	case tfrecord.KindFloat:
		v.floats = f.AppendFloats(v.floats[:0])
		for i, x := range v.floats {
			comma(i)
			if special := specialFloat(x); special != "" {
				b = append(append(append(b, '"'), special...), '"')
			} else {
				b = appendFloat(b, x)
			}
		}
	case tfrecord.KindBytes:
		v.bytes = f.AppendBytes(v.bytes[:0])
		for i, s := range v.bytes {
			comma(i)
			if text {
				if b, err = v.appendString(b, s); err != nil {
					return b, err
				}
				continue
			}
			b = base64.StdEncoding.AppendEncode(append(b, '"'), s)
			b = append(b, '"')
		}
	}
	if list {
		b = append(b, ']')
	}
	return b, nil
}

func (v *jsonValue) appendString(b, s []byte) ([]byte, error) {
	v.quoted.Reset()
	e := json.NewEncoder(&v.quoted)
	e.SetEscapeHTML(false)
	if err := e.Encode(string(s)); err != nil {
		return b, err
	}
	return append(b, bytes.TrimSuffix(v.quoted.Bytes(), []byte("\n"))...), nil
}

// appendFloat appends the fewest digits that give the same float32.
func appendFloat(b []byte, x float32) []byte { return strconv.AppendFloat(b, float64(x), 'g', -1, 32) }

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
