package tables

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/tfrecord"
)

// maxColumns bounds the features of a table, and so the memory for them.
const maxColumns = 4096

// column is a feature with its statistics over all records.
type column struct {
	key  string
	kind tfrecord.Kind

	records           int64 // that have it
	values            int64 // in all of them
	fewest, most      int   // values of a record
	size              int64 // bytes of all values, for features of bytes
	shortest, longest int   // bytes of a value
	runes             int   // of the longest text
	text              bool  // all values are UTF-8
	zeros             bool  // some value has a NUL
}

// single reports whether every record that has the feature has one value.
func (c *column) single() bool { return c.fewest == 1 && c.most == 1 }

// add takes notice of a record's values.
func (c *column) add(f tfrecord.Feature) {
	n := f.Len()
	if c.records == 0 {
		c.fewest = n
	}
	c.fewest, c.most = min(c.fewest, n), max(c.most, n)
	c.records++
	if f.Kind() != tfrecord.KindBytes {
		c.values += int64(n)
		return
	}
	for v := range f.BytesList() {
		if c.values == 0 {
			c.shortest = len(v)
		}
		c.values++
		c.size += int64(len(v))
		c.shortest, c.longest = min(c.shortest, len(v)), max(c.longest, len(v))
		if c.text = c.text && utf8.Valid(v); c.text {
			c.runes = max(c.runes, utf8.RuneCount(v))
			c.zeros = c.zeros || bytes.IndexByte(v, 0) >= 0
		}
	}
}

// inputScan is the result of the first pass over all records.
type inputScan struct {
	records int64
	columns []*column // sorted by key
}

// scanInput reads everything once.
func scanInput(ctx context.Context, in *input.Records, o *spec.Options) (*inputScan, error) {
	known := map[string]*column{}
	unset := map[string]bool{}
	s := new(inputScan)
	var err error
	s.records, err = in.Each(ctx, o.Progress, func(r *input.Row) error {
		for i := range r.Len() {
			key, f := r.At(i)
			c := known[string(key)]
			switch {
			case c == nil && f.Kind() == tfrecord.KindNone:
				unset[string(key)] = true
				continue
			case f.Kind() == tfrecord.KindNone:
				continue // as good as missing
			case c == nil && len(known) == maxColumns:
				return fmt.Errorf("there are more than %d features: tfrec features select keeps those that are wanted", maxColumns)
			case c == nil && !utf8.Valid(key):
				return fmt.Errorf("the feature %s has a key that is not UTF-8: tfrec features drop leaves it out", jsontext.Readable(string(key)))
			case c == nil:
				c = &column{key: string(key), kind: f.Kind(), text: f.Kind() == tfrecord.KindBytes}
				known[c.key] = c
			case c.kind != f.Kind():
				return fmt.Errorf("its feature %s is of kind %s, and in records before of kind %s: a column can hold only one", key, f.Kind(), c.kind)
			}
			c.add(f)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for key, c := range known {
		delete(unset, key)
		s.columns = append(s.columns, c)
	}
	if len(unset) > 0 {
		o.Notef("%s without a value in any record left out", plural.Of(len(unset), "feature"))
	}
	if len(s.columns) == 0 {
		return nil, fmt.Errorf("no record has a feature with values: there is nothing to export")
	}
	slices.SortFunc(s.columns, func(a, b *column) int { return strings.Compare(a.key, b.key) })
	return s, nil
}

// cells puts the features of a record in the order of the columns. Missing features have KindNone.
// The cells are valid as long as the row.
func (s *inputScan) cells(cells []tfrecord.Feature, r *input.Row) ([]tfrecord.Feature, error) {
	cells = cells[:0]
	at := 0
	for _, c := range s.columns {
		var found tfrecord.Feature
		for at < r.Len() {
			key, f := r.At(at)
			order := strings.Compare(string(key), c.key)
			if order > 0 {
				break
			}
			at++
			if order == 0 {
				found = f
				break
			}
			if f.Kind() != tfrecord.KindNone {
				return nil, input.ErrChanged
			}
		}
		if kind := found.Kind(); kind != tfrecord.KindNone && (kind != c.kind || found.Len() < c.fewest || found.Len() > c.most) {
			return nil, input.ErrChanged
		}
		cells = append(cells, found)
	}
	for ; at < r.Len(); at++ {
		if _, f := r.At(at); f.Kind() != tfrecord.KindNone {
			return nil, input.ErrChanged
		}
	}
	return cells, nil
}
