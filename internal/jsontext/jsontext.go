// Package jsontext writes JSON for readers: without the escapes that encoding/json
// has for HTML, so that "a&b" is not "a\u0026b".
package jsontext

import (
	"bytes"
	"encoding/json"
)

// Compact is a JSON value on one line, with its members in sorted order. It is false
// for what is not one JSON value.
func Compact(raw []byte) (string, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // as they are written
	var v any
	if d.Decode(&v) != nil || d.More() {
		return "", false
	}
	text, err := Append(nil, v)
	return string(text), err == nil
}

// Append appends a value as JSON.
func Append(dst []byte, v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return dst, err
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...), nil
}
