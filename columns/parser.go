package columns

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/tfrecord"
)

// Parser parses tf.train.Examples from wire format directly into columns, without an allocation per
// record. The columns equal those of tf.io.parse_example for the same records. It is not safe for
// concurrent use.
//
//	parser, err := columns.NewParser(schema)
//	var batch columns.Columns
//	err = parser.Parse(&batch, records)
//	label := batch.Get("label").Int64s
//
// The last value of a duplicate key wins; packed and unpacked numbers, and split lists, are read as
// in any protocol buffer library. Features not in the schema are not parsed, so damage in them may
// go unnoticed.
type Parser struct {
	schema   Schema
	counts   []int     // values per record; -1: ragged
	defaults []*values // nil: none
	byKey    map[string]int
	keys     []keyNode
	spans    []span           // of the current record, by field
	plain    tfrecord.Example // for records of unusual form
	sequence tfrecord.SequenceExample
}

// keyNode is a key and the key that followed it in the last record that had it. Records of a file
// mostly have the same keys in the same order, and an optional feature costs a look-up only where
// it is missing.
type keyNode struct {
	key   []byte
	field int // -1: not in the schema
	next  int // in keys
}

// maxForeign and maxForeignKey bound the number and length of the keys outside the schema that are
// remembered. Further ones cost a look-up each time.
const (
	maxForeign    = 256
	maxForeignKey = 256
)

// span is the range of a field's Feature message in a record. No feature begins at 0, which means
// that there is none.
type span struct{ from, to int }

// NewParser returns a parser for a schema, which it retains.
func NewParser(s Schema) (*Parser, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p := &Parser{
		schema:   s,
		counts:   make([]int, len(s)),
		defaults: make([]*values, len(s)),
		byKey:    make(map[string]int, len(s)),
		keys:     make([]keyNode, 1+len(s)), // the first one is the start of a record
		spans:    make([]span, len(s)),
	}
	p.keys[0].field = -1
	for i := range s {
		f := &s[i]
		p.counts[i] = f.count()
		p.defaults[i], _ = f.defaults() // cannot fail: validated
		p.byKey[f.Key] = 1 + i
		p.keys[1+i] = keyNode{key: []byte(f.Key), field: i}
		p.keys[i].next = 1 + i
	}
	return p, nil
}

// Schema returns the schema of the parser.
func (p *Parser) Schema() Schema { return p.schema }

// Parse fills dst with the columns of the records. For a record that does not match the schema it
// returns a *[RowError] and keeps the rows before it.
func (p *Parser) Parse(dst *Columns, records [][]byte) error {
	p.Reset(dst)
	for i, r := range records {
		if err := p.Append(dst, r); err != nil {
			return &RowError{i, err}
		}
	}
	return nil
}

// RowError is the error of one record of a batch.
type RowError struct {
	// Row is the number of the record in the batch, from 0.
	Row int
	Err error
}

// Error returns the row and the message of Err.
func (e *RowError) Error() string { return fmt.Sprintf("row %d of the batch: %v", e.Row, e.Err) }

// Unwrap returns Err.
func (e *RowError) Unwrap() error { return e.Err }

// Reset empties dst and sets the columns of the schema.
func (p *Parser) Reset(dst *Columns) { dst.reset(p.schema) }

// Append appends a record to columns that Reset prepared. The columns copy what they need of it.
// After an error they are unchanged.
//
// An error is a [*tfrecord.Error] of PartParse that names the feature and, for a malformed record,
// the byte; the caller adds the file.
func (p *Parser) Append(dst *Columns, record []byte) error {
	if p.scan(record) && p.appendScanned(dst, record) {
		dst.closeRow()
		return nil
	}
	dst.dropOpenRow()
	if err := p.appendPlain(dst, record); err != nil {
		dst.dropOpenRow()
		return err
	}
	dst.closeRow()
	return nil
}

// find returns the node of the key that follows node prev when it is not the expected one, and
// makes it the expected one.
func (p *Parser) find(prev int, key []byte) int {
	at, ok := p.byKey[string(key)]
	if !ok {
		if len(p.keys)-len(p.schema) > maxForeign || len(key) > maxForeignKey {
			return 0
		}
		at = len(p.keys)
		p.keys = append(p.keys, keyNode{key: bytes.Clone(key), field: -1})
		p.byKey[string(key)] = at
	}
	p.keys[prev].next = at
	return at
}

// appendPlain is the slow path for scan and appendScanned: it accepts any valid Example and
// produces the error messages.
func (p *Parser) appendPlain(dst *Columns, record []byte) error {
	if err := p.plain.Parse(record); err != nil {
		return err
	}
	if err := refuseLists(&p.sequence, record); err != nil {
		return err
	}
	for i := range p.schema {
		f, _ := p.plain.Get(p.schema[i].Key)
		if err := p.appendFeature(&dst.Columns[i], i, f); err != nil {
			return &tfrecord.Error{Record: -1, Part: tfrecord.PartParse,
				Err: fmt.Errorf("feature %q: %w", p.schema[i].Key, err)}
		}
	}
	return nil
}

// ErrSequence is returned for SequenceExamples, whose wire format is that of an Example with one
// more field: a parser of Examples would return only their context.
var ErrSequence = errors.New("the record is a tf.train.SequenceExample, whose feature lists have no columns: " +
	"read such records with Map and tfrecord.SequenceExample")

// refuseLists refuses a record with feature lists. It reuses the memory of s.
func refuseLists(s *tfrecord.SequenceExample, record []byte) error {
	if s.Parse(record) == nil && s.Lists.Len() > 0 {
		return &tfrecord.Error{Record: -1, Part: tfrecord.PartParse, Err: ErrSequence}
	}
	return nil
}

func (p *Parser) appendFeature(dst *Column, field int, f tfrecord.Feature) error {
	want := p.counts[field]
	switch f.Kind() {
	case tfrecord.KindNone:
		if want >= 0 && p.defaults[field] == nil {
			return errors.New("missing, and the schema has no default for it")
		}
		p.appendDefault(dst, field)
		return nil
	case dst.Kind:
	default:
		return fmt.Errorf("its values are %v; the schema wants %v", f.Kind(), dst.Kind)
	}
	if n := f.Len(); want >= 0 && n != want {
		return fmt.Errorf("%s; the schema wants %d of shape %v, and Ragged lets them vary", plural.Of(n, "value"), want, p.schema[field].Shape)
	}
	switch dst.Kind {
	case tfrecord.KindInt64:
		dst.Int64s = f.AppendInt64s(dst.Int64s)
	case tfrecord.KindFloat:
		dst.Floats = f.AppendFloats(dst.Floats)
	default:
		for _, v := range f.AppendBytes(nil) {
			dst.appendBytes(v)
		}
	}
	return nil
}

// appendDefault appends the default for a missing feature: nothing to a ragged column.
func (p *Parser) appendDefault(dst *Column, field int) {
	d := p.defaults[field]
	if d == nil {
		return
	}
	dst.Int64s = append(dst.Int64s, d.int64s...)
	dst.Floats = append(dst.Floats, d.floats...)
	for _, v := range d.bytes {
		dst.appendBytes(v)
	}
}
