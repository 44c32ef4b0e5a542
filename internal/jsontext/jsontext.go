// Package jsontext writes JSON for readers: without the escapes that encoding/json
// has for HTML, so that "a&b" is not "a\u0026b".
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Kind returns the kind of a text by its start: "JSON lines" or "JSON" if it consists of objects or
// lists, and "" for anything else. whole means that sample is the whole text.
func Kind(sample []byte, whole bool) string {
	sample = bytes.TrimSpace(sample)
	if !bytes.HasPrefix(sample, []byte("{")) && !bytes.HasPrefix(sample, []byte("[")) {
		return ""
	}
	d := json.NewDecoder(bytes.NewReader(sample))
	var first json.RawMessage
	switch err := d.Decode(&first); {
	case !whole && errors.Is(err, io.ErrUnexpectedEOF):
		return "JSON"
	case err != nil:
		return ""
	}
	rest := sample[d.InputOffset():]
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	switch {
	case len(bytes.TrimSpace(line)) > 0: // a row of a table, such as [1],[2]
		return ""
	case len(rest) > 0:
		return "JSON lines"
	}
	return "JSON"
}

// Compact returns a JSON value on one line, with its members in sorted order. It returns false
// unless raw is one JSON value.
func Compact(raw []byte) (string, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // in their original spelling
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
