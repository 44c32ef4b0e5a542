package tables

import (
	"fmt"
	"io"
	"strings"

	"github.com/tfrec/tfrec/internal/view/export/jsonvalue"
	"github.com/tfrec/tfrec/tfrecord"
)

// textNames returns the names of columns in a file of text. Text under a key that ends in the suffix is
// written in base64, under the key and the suffix once more: as it is, it would be decoded when it is
// read.
func textNames(s *inputScan) ([]string, error) {
	names := make([]string, len(s.columns))
	taken := map[string]bool{}
	for i, c := range s.columns {
		c.text = c.text && !strings.HasSuffix(c.key, jsonvalue.Base64Suffix)
		names[i] = c.key
		if c.kind == tfrecord.KindBytes && !c.text {
			names[i] += jsonvalue.Base64Suffix
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
	value jsonvalue.Value
	line  []byte
	err   error // of writing
}

func newJSONL(w io.Writer, s *inputScan) (*jsonl, error) {
	names, err := textNames(s)
	if err != nil {
		return nil, err
	}
	for _, c := range s.columns {
		if c.kind != tfrecord.KindBytes && strings.HasSuffix(c.key, jsonvalue.Base64Suffix) {
			return nil, fmt.Errorf("the feature %s has numbers, and a member of this name is read as bytes: tfrec features rename gives it another key", c.key)
		}
	}
	j := &jsonl{w: w, s: s}
	j.value.Drain = j.drain
	for _, name := range names {
		quoted, err := j.value.AppendString(nil, []byte(name))
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
		if b, err = j.value.Append(b, f, j.s.columns[i].text, !j.s.columns[i].single()); err != nil {
			return err
		}
	}
	j.line = append(b, '}', '\n')
	if j.err == nil {
		_, j.err = j.w.Write(j.line)
	}
	return j.err
}

// drain writes b if it is long enough, and returns the unwritten bytes.
func (j *jsonl) drain(b []byte) []byte {
	if len(b) < jsonvalue.Enough {
		return b
	}
	if j.err == nil {
		_, j.err = j.w.Write(b)
	}
	return b[:0]
}

func (j *jsonl) close() error { return nil }
