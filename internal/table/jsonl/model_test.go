package jsonl

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// value is what the model says of a column in a row: numbers as they are written, booleans and
// strings as they are.
type value struct {
	list bool
	of   []any
}

var errRow = errors.New("a bad row")

// modelRow reads a row with encoding/json: the values by column, nil for null. Strings with U+FFFD,
// which stands for what is not valid too, are reported as unclear.
func modelRow(line []byte) (row map[string]*value, unclear bool, err error) {
	if !utf8.Valid(line) || !json.Valid(line) {
		return nil, false, errRow
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	row = map[string]*value{}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false, errRow
	}
	m := model{d: d, row: row}
	err = m.object("", 1)
	return row, m.unclear, err
}

type model struct {
	d       *json.Decoder
	row     map[string]*value
	unclear bool
}

func (m *model) object(prefix string, depth int) error {
	seen := map[string]bool{}
	for m.d.More() {
		t, _ := m.d.Token()
		name := t.(string)
		m.unclear = m.unclear || strings.ContainsRune(name, utf8.RuneError)
		if prefix+name == "" || seen[name] {
			return errRow
		}
		seen[name] = true
		t, _ = m.d.Token()
		if t == json.Delim('{') {
			if depth == maxDepth {
				return errRow
			}
			if err := m.object(prefix+name+"/", depth+1); err != nil {
				return err
			}
			continue
		}
		if err := m.add(prefix+name, t); err != nil {
			return err
		}
	}
	_, err := m.d.Token()
	return err
}

// add adds a value that begins with a token.
func (m *model) add(path string, t json.Token) error {
	key := strings.TrimSuffix(path, ".base64")
	isBase64 := key != path && key != ""
	if key == "" {
		key = path
	}
	if _, twice := m.row[key]; twice {
		return errRow
	}
	v := &value{list: t == json.Delim('[')}
	if m.row[key] = v; t == nil {
		m.row[key] = nil
		return nil
	}
	for more := true; more; more = v.list {
		if v.list {
			if t, _ = m.d.Token(); t == json.Delim(']') {
				return nil
			}
		}
		text, isText := t.(string)
		_, isDelim := t.(json.Delim)
		if t == nil || isDelim || isBase64 && !isText {
			return errRow
		}
		m.unclear = m.unclear || strings.ContainsRune(text, utf8.RuneError)
		if isBase64 {
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return errRow
			}
			t = string(data)
		}
		v.of = append(v.of, t)
	}
	return nil
}

// recorder is a sink that keeps a row.
type recorder struct {
	names []string
	row   map[string]*value
}

func (r *recorder) column(name string) int {
	r.names = append(r.names, name)
	return len(r.names) - 1
}

func (r *recorder) begin(c *column, s shape) string {
	if r.row[c.name] = nil; s != shapeNull {
		r.row[c.name] = &value{list: s == shapeList}
	}
	return ""
}

func (r *recorder) value(c *column, k class, text []byte) string {
	var v any = string(text)
	switch k {
	case classInt, classFloat:
		v = json.Number(text)
		if isInt := !bytes.ContainsAny(text, ".eE"); isInt != (k == classInt) {
			v = fmt.Sprintf("%s of class %d", text, k)
		}
	case classTrue, classFalse:
		v = k == classTrue
	case classText, classBytes:
	}
	r.row[c.name].of = append(r.row[c.name].of, v)
	return ""
}
